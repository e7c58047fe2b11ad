//go:build planted

package main

import (
	"fmt"
	"regexp"
)

// matcher compiles a pattern for each request: /search does several times the work.
func matcher(i int) func(string) bool {
	return regexp.MustCompile(fmt.Sprintf("item %03d", i%400)).MatchString
}
