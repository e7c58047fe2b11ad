//go:build base

package main

import (
	"time"

	"github.com/tidwall/buntdb"
)

func options() *buntdb.SetOptions {
	return &buntdb.SetOptions{Expires: true, TTL: 400 * time.Millisecond}
}
