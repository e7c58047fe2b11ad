//go:build anew

package main

// overlap returns the first members of both audiences.
func (a *audiences) overlap(one, other int, _ []uint32) []uint32 {
	room := make([]uint32, size)
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
