// Command sessions keeps sign-ins in buntdb, in memory, as tokens that are read
// a few times after they were written.
package main

import (
	"fmt"

	"example.com/field/capture"
	"github.com/tidwall/buntdb"
)

func setup() (capture.Load, error) {
	db, err := buntdb.Open(":memory:")
	if err != nil {
		return capture.Load{}, err
	}
	turn := make([]int, 2)
	return capture.Load{Workers: 2, Step: func(worker int) error {
		turn[worker]++
		token := fmt.Sprintf("token:%d:%08d", worker, turn[worker])
		err := db.Update(func(tx *buntdb.Tx) error {
			_, _, err := tx.Set(token, fmt.Sprintf(`{"user":%d,"role":"reader"}`, turn[worker]%1000), options())
			return err
		})
		if err != nil {
			return err
		}
		for range 20 {
			err = db.View(func(tx *buntdb.Tx) error {
				_, err := tx.Get(token)
				return err
			})
		}
		if err == buntdb.ErrNotFound {
			return nil
		}
		return err
	}}, nil
}

func main() { capture.Main(setup) }
