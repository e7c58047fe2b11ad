//go:build !slices

package program

import "sort"

func rank(hits []hit) {
	sort.Slice(hits, func(i, j int) bool {
		if hits[i].score != hits[j].score {
			return hits[i].score > hits[j].score
		}
		return hits[i].document < hits[j].document
	})
}
