//go:build cached

package program

import (
	"sync"

	"github.com/gobwas/glob"
)

var compiled sync.Map

func match(rule, path string) bool {
	known, ok := compiled.Load(rule)
	if !ok {
		known, _ = compiled.LoadOrStore(rule, glob.MustCompile(rule, '/'))
	}
	return known.(glob.Glob).Match(path)
}
