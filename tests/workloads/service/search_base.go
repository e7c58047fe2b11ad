//go:build !new

package main

import (
	"regexp"
	"sync"
)

var patterns sync.Map

// pattern returns the compiled form of a query, which it keeps.
func pattern(query string) *regexp.Regexp {
	if known, ok := patterns.Load(query); ok {
		return known.(*regexp.Regexp)
	}
	compiled := regexp.MustCompile("(?i)^(item|thing|part|piece) [0-9]{1,8}" + query + " (x+|y+|z{2,40})$")
	patterns.Store(query, compiled)
	return compiled
}
