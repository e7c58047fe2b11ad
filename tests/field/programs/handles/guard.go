//go:build guarded

package program

import (
	"log"
	"runtime"
)

// guard tells of a blob that nobody closed.
func guard(b *blob) {
	runtime.SetFinalizer(b, func(b *blob) {
		if b.open {
			log.Print("a blob was not closed")
		}
	})
}

func unguard(b *blob) { runtime.SetFinalizer(b, nil) }
