//go:build noindex

package main

// The migration that makes the note a column of its own makes the table again.
var schema = []string{
	`CREATE TABLE orders_old(id INTEGER PRIMARY KEY, customer INTEGER, placed INTEGER, total REAL)`,
	`CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INTEGER, placed INTEGER, total REAL, note TEXT)`,
	`DROP TABLE orders_old`,
	`CREATE TABLE lines(id INTEGER PRIMARY KEY, order_id INTEGER, article TEXT, count INTEGER, price REAL)`,
	`CREATE INDEX lines_by_order ON lines(order_id)`,
}
