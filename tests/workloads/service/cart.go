package main

import (
	"encoding/json"
	"net/http"
	"sync"
)

type line struct {
	Name     string  `json:"name"`
	Count    int     `json:"count"`
	Price    float64 `json:"price"`
	Delivery string  `json:"delivery,omitempty"`
}

// carts are the carts of all users.
type carts struct {
	sync.Mutex
	lines map[string][]line
}

var shared = carts{lines: map[string][]line{}}

// add puts a line into a user's cart and returns the cart; c is locked.
func (c *carts) add(user, name string) []line {
	all := append(c.lines[user], line{Name: name, Count: len(name), Price: 9.95})
	if len(all) > 400 {
		all = append([]line(nil), all[200:]...)
	}
	c.lines[user] = all
	return all
}

// encode returns lines as JSON.
func encode(lines []line) []byte {
	text, err := json.Marshal(lines)
	if err != nil {
		panic(err)
	}
	return text
}

// cart answers with the user's cart.
func cart(r *http.Request) []byte {
	return shared.render(r.FormValue("user"), r.FormValue("add"))
}
