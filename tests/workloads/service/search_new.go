//go:build new

package main

import "regexp"

// pattern returns the compiled form of a query.
func pattern(query string) *regexp.Regexp {
	return regexp.MustCompile("(?i)^(item|thing|part|piece) [0-9]{1,8}" + query + " (x+|y+|z{2,40})$")
}
