package main

import (
	"fmt"
	"net/http"
	"strings"
)

// names are what /search looks through.
var names = func() []string {
	all := make([]string, 100)
	for i := range all {
		all[i] = fmt.Sprintf("item %03d %s", i*7919%100, strings.Repeat("x", i%40))
	}
	return all
}()

// search answers with the names that match.
func search(r *http.Request) []byte {
	var found []byte
	matches := pattern(r.FormValue("q"))
	for _, name := range names {
		if matches.MatchString(name) {
			found = append(append(found, name...), '\n')
		}
	}
	return found
}
