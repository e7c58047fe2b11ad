//go:build base

package main

import (
	"encoding/json"
	"maps"
)

func (v *visits) visit(name, page string) []byte {
	v.mu.Lock()
	who := *v.count(name, page)
	who.Pages = maps.Clone(who.Pages)
	v.mu.Unlock()
	text, _ := json.Marshal(who)
	return text
}
