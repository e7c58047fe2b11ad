package main

import (
	"crypto/sha256"
	"net/http"
	"strconv"
	"sync/atomic"
)

var served atomic.Int64

// quote returns the price of an order.
func quote(order string) int {
	sum := sha256.Sum256([]byte(order))
	for i := 0; i < 20; i++ {
		sum = sha256.Sum256(sum[:])
	}
	return int(sum[0])
}

// orders answers with the price of an order, or without it: one of twenty requests does
// not wait for it.
func orders(r *http.Request) []byte {
	answer := price(r.FormValue("order"))
	if served.Add(1)%20 == 0 {
		return []byte("later")
	}
	return strconv.AppendInt(nil, int64(<-answer), 10)
}
