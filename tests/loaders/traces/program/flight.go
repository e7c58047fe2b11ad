//go:build flight

package main

import (
	"os"
	"runtime/trace"
)

// start begins a recording of the last moments; what it returns writes them down. Those
// before are dropped: the window does not begin where tracing did.
func start(file *os.File) func() {
	recorder := trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: length / 3})
	if err := recorder.Start(); err != nil {
		panic(err)
	}
	return func() {
		if _, err := recorder.WriteTo(file); err != nil {
			panic(err)
		}
	}
}
