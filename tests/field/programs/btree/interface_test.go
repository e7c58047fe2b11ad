//go:build !generic

package program

import "github.com/google/btree"

func index(keys []int) (hits int) {
	tree := btree.New(32)
	for _, key := range keys {
		tree.ReplaceOrInsert(btree.Int(key))
	}
	for _, key := range keys {
		if tree.Has(btree.Int(key)) {
			hits++
		}
	}
	return hits
}
