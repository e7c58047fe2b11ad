//go:build slices

package program

import "slices"

func rank(hits []hit) {
	slices.SortFunc(hits, func(a, b hit) int {
		if a.score != b.score {
			if a.score > b.score {
				return -1
			}
			return 1
		}
		return a.document - b.document
	})
}
