//go:build xxhash

package program

import "github.com/cespare/xxhash/v2"

type key = uint64

func hash(chunk []byte) key { return xxhash.Sum64(chunk) }
