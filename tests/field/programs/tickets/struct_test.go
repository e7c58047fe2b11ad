//go:build !dynamic

package program

import "github.com/vmihailenco/msgpack/v5"

func sold(message []byte) (float64, error) {
	var one ticket
	err := msgpack.Unmarshal(message, &one)
	sum := 0.0
	for _, seat := range one.Seats {
		if seat.Sold {
			sum += seat.Price
		}
	}
	return sum, err
}
