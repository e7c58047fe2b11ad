//go:build standard

package main

import "encoding/json"

func read(text []byte) (e event, err error) {
	err = json.Unmarshal(text, &e)
	return e, err
}
