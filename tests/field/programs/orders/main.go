// Orders answers a customer's latest orders as JSON out of SQLite.
package main

import (
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"

	"example.com/field/capture"
	_ "modernc.org/sqlite"
)

var (
	clients   = flag.Int("clients", 4, "clients that ask at once")
	customers = flag.Int("customers", 100, "customers, of 15 orders each")
)

type line struct {
	Article string  `json:"article"`
	Count   int     `json:"count"`
	Price   float64 `json:"price"`
}

type order struct {
	ID     int64   `json:"id"`
	Placed int64   `json:"placed"`
	Total  float64 `json:"total"`
	Lines  []line  `json:"lines"`
}

type store struct {
	db     *sql.DB
	recent *sql.Stmt
	lines  *sql.Stmt
}

func open(path string) (*store, error) {
	db, err := sql.Open("sqlite", path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(4)
	for _, statement := range schema {
		if _, err := db.Exec(statement); err != nil {
			return nil, err
		}
	}
	tx, err := db.Begin()
	if err != nil {
		return nil, err
	}
	for i := 0; i < *customers*15; i++ {
		if _, err := tx.Exec(`INSERT INTO orders(id, customer, placed, total, note) VALUES (?, ?, ?, ?, ?)`,
			i+1, i%*customers, 1700000000+i*37, float64(i%700)/4, "left at the door of house "+strconv.Itoa(i%90)); err != nil {
			return nil, err
		}
		for j := 0; j < 4; j++ {
			if _, err := tx.Exec(`INSERT INTO lines(order_id, article, count, price) VALUES (?, ?, ?, ?)`,
				i+1, "article "+strconv.Itoa((i*7+j)%500), j+1, float64(j)+0.75); err != nil {
				return nil, err
			}
		}
	}
	if err := tx.Commit(); err != nil {
		return nil, err
	}
	s := &store{db: db}
	if s.recent, err = db.Prepare(recentQuery); err != nil {
		return nil, err
	}
	s.lines, err = db.Prepare(`SELECT article, count, price FROM lines WHERE order_id = ? ORDER BY id`)
	return s, err
}

func (s *store) serve(w http.ResponseWriter, r *http.Request) {
	customer, err := strconv.Atoi(r.URL.Query().Get("customer"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	found, err := s.orders(r.Context(), customer)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(found)
}

func setup() (capture.Load, error) {
	folder, err := os.MkdirTemp("", "orders")
	if err != nil {
		return capture.Load{}, err
	}
	s, err := open(filepath.Join(folder, "shop.db"))
	if err != nil {
		return capture.Load{}, err
	}
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: *clients}}
	turn := make([]int, *clients)
	return capture.Load{Workers: *clients, Step: func(worker int) error {
		turn[worker]++
		answer, err := client.Get(fmt.Sprintf("%s/orders?customer=%d", server.URL, (turn[worker]*13+worker*29)%*customers))
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		n, err := io.Copy(io.Discard, answer.Body)
		if err == nil && (answer.StatusCode != 200 || n < 1000) {
			err = fmt.Errorf("status %d, %d bytes", answer.StatusCode, n)
		}
		return err
	}}, nil
}

func main() { capture.Main(setup) }
