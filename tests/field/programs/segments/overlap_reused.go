//go:build !anew

package main

// overlap returns the first members of both audiences, in the worker's room.
func (a *audiences) overlap(one, other int, room []uint32) []uint32 {
	kept := room[:0]
	members := a.members[other]
	for it := a.members[one].ManyIterator(); len(kept)+256 <= size; {
		n := it.NextMany(room[len(kept) : len(kept)+256])
		if n == 0 {
			break
		}
		for _, id := range room[len(kept) : len(kept)+n] {
			if id%16 == 0 && members.Contains(id) {
				kept = append(kept, id)
			}
		}
	}
	return kept
}
