// Command node-pool models a service with a deadline that keeps many small
// nodes alive in pools.
//
// The base build pools slices of pointers to nodes, the new build flat arrays
// whose nodes refer to each other by index. Pauses are short in both. In the
// base build every collection has to visit millions of objects, and requests
// are late while it does; in the new build there is next to nothing to visit.
//
// The heap never grows to its goal: in production a timer forces a collection
// every two minutes. Here one is forced every second.
package main

import (
	"encoding/json"
	"errors"
	"log"
	"math/rand"
	"runtime"
	"runtime/debug"
	"time"

	"example.com/workloads/internal/capture"
	"example.com/workloads/node-pool/ranking"
	"example.com/workloads/node-pool/tree"
)

const (
	workers  = 4
	sessions = 3000
	added    = 6 // candidates per request
	texts    = 4096
	interval = time.Millisecond // between two requests of the probe
)

func main() {
	debug.SetGCPercent(800)
	capture.Main(setup)
}

func setup() (capture.Load, error) {
	random := rand.New(rand.NewSource(1))
	service := ranking.New(sessions, random.Float64)
	requests, err := makeRequests(random)
	if err != nil {
		return capture.Load{}, err
	}
	answers := make(chan int, 256)
	go count(answers)
	go collect()
	latency := new(capture.Histogram)
	go probe(service, requests, latency)
	var sent [workers]int
	return capture.Load{
		Unit:    "requests",
		Workers: workers,
		Latency: latency,
		Trace:   3200 * time.Millisecond, // three collections
		Step: func(worker int) (int, error) {
			sent[worker]++
			request := requests[(sent[worker]*workers+worker)%texts]
			answer, err := service.Handle(request)
			if err == nil && len(answer) < 100 {
				err = errors.New("short answer")
			}
			answers <- len(answer)
			return 1, err
		},
	}, nil
}

// probe sends one request every interval, whatever became of the last one, and
// measures the time from when it was due to when it was answered.
func probe(service *ranking.Service, requests [][]byte, latency *capture.Histogram) {
	due := time.Now()
	for i := 0; ; i++ {
		due = due.Add(interval)
		time.Sleep(time.Until(due))
		if _, err := service.Handle(requests[i%texts]); err != nil {
			log.Fatal(err)
		}
		latency.Observe(time.Since(due))
	}
}

// collect stands for the timer that forces a collection.
func collect() {
	for range time.Tick(time.Second) {
		runtime.GC()
	}
}

func count(answers <-chan int) {
	total := 0
	for n := range answers {
		total += n
	}
}

func makeRequests(random *rand.Rand) ([][]byte, error) {
	var list [][]byte
	for i := 0; i < texts; i++ {
		request := ranking.Request{Session: random.Intn(sessions)}
		for n := 0; n < added; n++ {
			c := tree.Candidate{ID: uint64(random.Intn(1e6)), Score: random.Float64()}
			request.Candidates = append(request.Candidates, c)
		}
		text, err := json.Marshal(request)
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}
