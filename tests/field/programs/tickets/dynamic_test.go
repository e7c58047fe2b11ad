//go:build dynamic

package program

import "github.com/vmihailenco/msgpack/v5"

func sold(message []byte) (float64, error) {
	var one map[string]any
	err := msgpack.Unmarshal(message, &one)
	sum := 0.0
	for _, each := range one["seats"].([]any) {
		seat := each.(map[string]any)
		if seat["sold"].(bool) {
			sum += seat["price"].(float64)
		}
	}
	return sum, err
}
