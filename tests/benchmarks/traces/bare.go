// This file is built into cmd/trace with go build -overlay (see programs.py): code outside
// GOROOT must not import internal/trace. Its init runs before main.

package main

import (
	"internal/trace"
	"io"
	"os"
)

// With "bare" as its first word the program reads a trace as a stream of events, tells
// each to Go's own summary of goroutines and tasks, keeps no other, and prints nothing.
func init() {
	if len(os.Args) == 3 && os.Args[1] == "bare" {
		logAndDie(summarizeBare(os.Args[2]))
	}
}

func summarizeBare(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	reader, err := trace.NewReader(file)
	if err != nil {
		return err
	}
	summarizer := trace.NewSummarizer()
	for {
		event, err := reader.ReadEvent()
		if err == io.EOF {
			summarizer.Finalize()
			return nil
		}
		if err != nil {
			return err
		}
		summarizer.Event(&event)
	}
}
