// Inventory answers queries about stock from go-memdb, and sells now and then.
package main

import (
	"fmt"
	"strings"

	"example.com/field/capture"
	"github.com/hashicorp/go-memdb"
)

type product struct {
	ID    string
	Shelf string
	Stock int
}

var schema = &memdb.DBSchema{Tables: map[string]*memdb.TableSchema{"product": {
	Name: "product",
	Indexes: map[string]*memdb.IndexSchema{
		"id":    {Name: "id", Unique: true, Indexer: &memdb.StringFieldIndex{Field: "ID"}},
		"shelf": {Name: "shelf", Indexer: &memdb.StringFieldIndex{Field: "Shelf"}},
	},
}}}

func sell(db *memdb.MemDB, id string) error {
	txn := db.Txn(true)
	defer txn.Abort()
	row, err := txn.First("product", "id", id)
	if err != nil || row == nil {
		return fmt.Errorf("%s: %v", id, err)
	}
	sold := *row.(*product)
	sold.Stock--
	if err := txn.Insert("product", &sold); err != nil {
		return err
	}
	txn.Commit()
	return nil
}

// list writes the products of a shelf.
func list(db *memdb.MemDB, shelf string) (string, error) {
	txn := reading(db)
	defer txn.Abort()
	rows, err := txn.Get("product", "shelf", shelf)
	if err != nil {
		return "", err
	}
	var page strings.Builder
	for row := rows.Next(); row != nil; row = rows.Next() {
		one := row.(*product)
		fmt.Fprintf(&page, "%-12s|%8d\n", one.ID, one.Stock)
	}
	return page.String(), nil
}

func main() {
	capture.Main(func() (capture.Load, error) {
		db, err := memdb.NewMemDB(schema)
		if err != nil {
			return capture.Load{}, err
		}
		txn := db.Txn(true)
		for i := 0; i < 20000; i++ {
			txn.Insert("product", &product{fmt.Sprint("product-", i), fmt.Sprint("shelf-", i%200), 1 << 20})
		}
		txn.Commit()
		turn := make([]int, 4)
		return capture.Load{Workers: len(turn), Step: func(worker int) error {
			turn[worker]++
			if turn[worker]%20 == 0 {
				return sell(db, fmt.Sprint("product-", turn[worker]%20000))
			}
			page, err := list(db, fmt.Sprint("shelf-", turn[worker]%200))
			if err == nil && len(page) < 1000 {
				err = fmt.Errorf("a short page: %q", page)
			}
			return err
		}}, nil
	})
}
