// Invoices reads the lines of customers from SQLite and draws a document of them.
package main

import (
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"flag"
	"fmt"
	"time"

	"example.com/field/capture"
	"modernc.org/sqlite"
)

const (
	customers = 64
	lines     = 12
)

var open = flag.Bool("open", false, "keep the rows open while the document is drawn")

type line struct {
	Item   string
	Amount int64
}

type books struct{ db *sql.DB }

// known stands for a directory of customers, which takes a millisecond to answer.
func known(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	time.Sleep(time.Millisecond)
	return args[0], nil
}

func (b *books) rows(customer int) (*sql.Rows, error) {
	return b.db.Query("SELECT item, amount FROM lines WHERE customer = known(?)", customer)
}

func read(rows *sql.Rows) ([]line, error) {
	var found []line
	for len(found) < lines && rows.Next() {
		var one line
		if err := rows.Scan(&one.Item, &one.Amount); err != nil {
			return nil, err
		}
		found = append(found, one)
	}
	return found, rows.Err()
}

// draw signs the document over and over, which takes milliseconds.
func draw(found []line) [sha256.Size]byte {
	var sum [sha256.Size]byte
	page := make([]byte, 0, 1024)
	for turn := range 4000 {
		page = append(page[:0], sum[:]...)
		for _, one := range found {
			page = append(page, one.Item...)
			page = binary.BigEndian.AppendUint64(page, uint64(one.Amount)+uint64(turn))
		}
		sum = sha256.Sum256(page)
	}
	return sum
}

// invoice draws a customer's document. Rows that are open hold a connection.
func (b *books) invoice(customer int) ([sha256.Size]byte, error) {
	rows, err := b.rows(customer)
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	defer rows.Close()
	found, err := read(rows)
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	if !*open {
		if err := rows.Close(); err != nil {
			return [sha256.Size]byte{}, err
		}
	}
	return draw(found), nil
}

func setup() (capture.Load, error) {
	sqlite.MustRegisterDeterministicScalarFunction("known", 1, known)
	db, err := sql.Open("sqlite", "file:books?mode=memory&cache=shared")
	if err != nil {
		return capture.Load{}, err
	}
	db.SetMaxOpenConns(1)
	if _, err = db.Exec("CREATE TABLE lines (customer INTEGER, item TEXT, amount INTEGER); CREATE INDEX by ON lines (customer)"); err != nil {
		return capture.Load{}, err
	}
	for i := range customers * lines {
		if _, err = db.Exec("INSERT INTO lines VALUES (?, ?, ?)", i%customers, fmt.Sprint("item ", i), i); err != nil {
			return capture.Load{}, err
		}
	}
	b := &books{db}
	turn := make([]int, 6)
	return capture.Load{Workers: len(turn), Step: func(worker int) error {
		turn[worker]++
		_, err := b.invoice((turn[worker]*len(turn) + worker) % customers)
		return err
	}}, nil
}

func main() { capture.Main(setup) }
