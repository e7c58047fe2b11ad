//go:build copied

package program

import "hash"

func add(sum hash.Hash64, page string) { sum.Write([]byte(page)) }
