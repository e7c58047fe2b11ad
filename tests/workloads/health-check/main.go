// Command health-check models a service that opens a TCP connection to every
// target, over and over, and measures how long an answer takes.
//
// The base build writes debug logs and counts every check by its labels; the
// new build does neither. In both, GOMAXPROCS is the number of cores of a large
// host, more than there are. Rounds begin at fixed times, so both builds do the
// same number of checks and rest in between. Yet checks are slow: all of a
// round's goroutines become runnable together and wait for one another, and for
// the collector.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"example.com/workloads/health-check/checker"
	"example.com/workloads/health-check/debuglog"
	"example.com/workloads/health-check/target"
	"example.com/workloads/internal/capture"
)

const (
	hostCores = 8
	checkers  = 4
	targets   = 150 // per checker
	servers   = 8
	interval  = 80 * time.Millisecond // between two rounds
)

func main() {
	runtime.GOMAXPROCS(hostCores)
	capture.Main(setup)
}

func setup() (capture.Load, error) {
	log, err := debuglog.Open(os.DevNull)
	if err != nil {
		return capture.Load{}, err
	}
	var addresses []string
	for i := 0; i < servers; i++ {
		address, err := target.Listen()
		if err != nil {
			return capture.Load{}, err
		}
		addresses = append(addresses, address)
	}
	latency := new(capture.Histogram)
	begin := time.Now()
	var all [checkers]*checker.Checker
	for i := range all {
		all[i] = &checker.Checker{Log: log, Latency: latency}
		for n := 0; n < targets; n++ {
			all[i].Targets = append(all[i].Targets, newTarget(i, n, addresses))
		}
	}
	return capture.Load{
		Unit:    "checks",
		Workers: checkers,
		Latency: latency,
		Trace:   200 * time.Millisecond,
		Step: func(worker int) (int, error) {
			time.Sleep(interval - time.Since(begin)%interval)
			return targets, all[worker].Round(context.Background())
		},
	}, nil
}

func newTarget(group, n int, addresses []string) *checker.Target {
	return &checker.Target{
		Name: fmt.Sprintf("service-%d-%03d", group, n),
		Addr: addresses[n%len(addresses)],
		Labels: map[string]string{
			"group": fmt.Sprint(group),
			"rack":  fmt.Sprintf("r%02d", n%12),
			"tier":  "backend",
			"zone":  fmt.Sprintf("zone-%d", n%3),
		},
	}
}
