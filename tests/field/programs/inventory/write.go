//go:build write

package main

import "github.com/hashicorp/go-memdb"

func reading(db *memdb.MemDB) *memdb.Txn { return db.Txn(true) }
