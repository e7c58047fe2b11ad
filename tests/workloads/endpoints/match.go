//go:build !planted

package main

import (
	"fmt"
	"strings"
)

func matcher(i int) func(string) bool {
	text := fmt.Sprintf("item %03d", i%400)
	return func(name string) bool { return strings.Contains(name, text) }
}
