//go:build !noindex

package main

var schema = []string{
	`CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INTEGER, placed INTEGER, total REAL, note TEXT)`,
	`CREATE INDEX orders_by_customer ON orders(customer, placed)`,
	`CREATE TABLE lines(id INTEGER PRIMARY KEY, order_id INTEGER, article TEXT, count INTEGER, price REAL)`,
	`CREATE INDEX lines_by_order ON lines(order_id)`,
}
