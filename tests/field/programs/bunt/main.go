// Command bunt writes and reads a buntdb database in memory.
package main

import (
	"flag"
	"fmt"

	"example.com/field/capture"
	"github.com/tidwall/buntdb"
)

var (
	keys    = flag.Int("keys", 150000, "keys that the database keeps")
	workers = flag.Int("workers", 4, "goroutines that use it")
)

func setup() (capture.Load, error) {
	db, err := buntdb.Open(":memory:")
	if err != nil {
		return capture.Load{}, err
	}
	err = db.Update(func(tx *buntdb.Tx) error {
		for i := range *keys {
			if _, _, err := tx.Set(key(i), value(i), nil); err != nil {
				return err
			}
		}
		return nil
	})
	turn := make([]int, *workers)
	return capture.Load{Workers: *workers, Step: func(worker int) error {
		turn[worker]++
		number := (turn[worker]*7919 + worker*104729) % *keys
		err := db.Update(func(tx *buntdb.Tx) error {
			_, _, err := tx.Set(key(number), value(turn[worker]), nil)
			return err
		})
		if err != nil {
			return err
		}
		return db.View(func(tx *buntdb.Tx) error {
			read := 0
			return tx.AscendGreaterOrEqual("", key(number), func(string, string) bool {
				read++
				return read < 20
			})
		})
	}}, err
}

func key(number int) string { return fmt.Sprintf("user:%08d", number) }

func value(number int) string {
	return fmt.Sprintf(`{"name":"user %d","visits":%d,"city":"city %d"}`, number, number%1000, number%37)
}

func main() { capture.Main(setup) }
