package main

import (
	"os"
	"runtime/trace"
	"time"
)

func init() { recorders["flight"] = fly }

// fly writes the last generations of a longer flight: what began before is cut off.
func fly(out *os.File) {
	recorder := trace.NewFlightRecorder(trace.FlightRecorderConfig{
		MinAge: 300 * time.Millisecond, MaxBytes: 1 << 26,
	})
	check(recorder.Start())
	enter()
	churn(time.Second)
	_, err := recorder.WriteTo(out)
	check(err)
	recorder.Stop()
	leave()
}
