// Package capture runs a load for a fixed time and writes down what the Go
// runtime can say about it: profiles, an execution trace, runtime/metrics and
// the amount of work done.
package capture

import (
	"encoding/json"
	"flag"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"sync/atomic"
	"time"
)

// Load is a job that can run for as long as it is asked to.
type Load struct {
	Unit    string // what one operation is
	Workers int    // goroutines that call Step

	// Step does a piece of work and returns the number of operations in it.
	Step func(worker int) (int, error)

	// Latency holds the time operations took. If it is nil, every Step is timed.
	Latency *Histogram

	// Trace is how long the execution trace runs.
	Trace time.Duration
}

var processStart = time.Now()

// Main runs the load and writes the files. It does not return on an error.
func Main(setup func() (Load, error)) {
	seconds := flag.Float64("seconds", 12, "length of the CPU profile")
	warmup := flag.Float64("warmup", 4, "load before the CPU profile starts")
	out := flag.String("out", ".", "folder that receives the files")
	flag.Parse()

	log.SetFlags(0)
	runtime.SetBlockProfileRate(int(100 * time.Microsecond))
	runtime.SetMutexProfileFraction(20)

	load, err := setup()
	check(err)
	check(os.MkdirAll(*out, 0o755))

	run := start(load)
	time.Sleep(duration(*warmup))
	run.recordWindow(*out, duration(*seconds))
	run.recordProfiles(*out)
	run.recordTrace(*out, load.Trace)
	run.stop()
}

type run struct {
	load       Load
	operations atomic.Int64
	stopped    atomic.Bool
	workers    sync.WaitGroup
}

func start(load Load) *run {
	r := &run{load: load}
	timed := load.Latency == nil
	if timed {
		r.load.Latency = new(Histogram)
	}
	for i := 0; i < load.Workers; i++ {
		r.workers.Add(1)
		go r.work(i, timed)
	}
	return r
}

func (r *run) work(worker int, timed bool) {
	defer r.workers.Done()
	for !r.stopped.Load() {
		begin := time.Now()
		n, err := r.load.Step(worker)
		check(err)
		if timed {
			r.load.Latency.Observe(time.Since(begin))
		}
		r.operations.Add(int64(n))
	}
}

func (r *run) stop() {
	r.stopped.Store(true)
	r.workers.Wait()
}

// recordWindow writes cpu.pb.gz, metrics.json and work.json for one stretch of
// time. runtime/metrics counts CPU only up to the end of the last GC cycle, so
// a cycle is run before each reading: the first just before the profile
// starts, the second just before it stops.
func (r *run) recordWindow(dir string, length time.Duration) {
	file := create(dir, "cpu.pb.gz")
	runtime.GC()
	first := r.read()
	check(pprof.StartCPUProfile(file))
	time.Sleep(length)
	runtime.GC()
	last := r.read()
	pprof.StopCPUProfile()
	check(file.Close())

	writeJSON(dir, "metrics.json", difference(first, last))
	writeJSON(dir, "work.json", map[string]any{
		"operations":           last.operations - first.operations,
		"unit":                 r.load.Unit,
		"seconds":              last.at.Sub(first.at).Seconds(),
		"latency_milliseconds": last.latency.minus(first.latency).summary(),
		"since_start": map[string]any{
			"window_begin_seconds": first.at.Sub(processStart).Seconds(),
			"window_end_seconds":   last.at.Sub(processStart).Seconds(),
			"operations":           last.operations,
		},
	})
}

func (r *run) recordProfiles(dir string) {
	for _, name := range []string{"allocs", "heap", "block", "mutex", "goroutine"} {
		file := create(dir, name+".pb.gz")
		check(pprof.Lookup(name).WriteTo(file, 0))
		check(file.Close())
	}
}

func (r *run) recordTrace(dir string, length time.Duration) {
	file := create(dir, "trace.out")
	check(trace.Start(file))
	time.Sleep(length)
	trace.Stop()
	check(file.Close())
}

func create(dir, name string) *os.File {
	file, err := os.Create(filepath.Join(dir, name))
	check(err)
	return file
}

func writeJSON(dir, name string, value any) {
	file := create(dir, name)
	encoder := json.NewEncoder(file)
	encoder.SetIndent("", "  ")
	check(encoder.Encode(value))
	check(file.Close())
}

func duration(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
