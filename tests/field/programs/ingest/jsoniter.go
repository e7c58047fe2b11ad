//go:build !standard

package main

import jsoniter "github.com/json-iterator/go"

var decoder = jsoniter.ConfigFastest

func read(text []byte) (e event, err error) {
	err = decoder.Unmarshal(text, &e)
	return e, err
}
