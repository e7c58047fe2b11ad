//go:build new

package main

import "github.com/tidwall/buntdb"

func options() *buntdb.SetOptions { return nil }
