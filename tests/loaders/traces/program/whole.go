//go:build !flight

package main

import (
	"os"
	"runtime/trace"
)

func start(file *os.File) func() {
	if err := trace.Start(file); err != nil {
		panic(err)
	}
	return trace.Stop
}
