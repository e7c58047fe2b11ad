//go:build new

package main

import (
	"encoding/json"
	"maps"
)

func (v *visits) visit(name, page string) []byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	who := *v.count(name, page)
	who.Pages = maps.Clone(who.Pages)
	text, _ := json.Marshal(who)
	return text
}
