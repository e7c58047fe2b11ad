//go:build generic

package program

import "github.com/google/btree"

func index(keys []int) (hits int) {
	tree := btree.NewOrderedG[int](32)
	for _, key := range keys {
		tree.ReplaceOrInsert(key)
	}
	for _, key := range keys {
		if tree.Has(key) {
			hits++
		}
	}
	return hits
}
