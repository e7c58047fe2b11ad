// Package capture runs a load for a fixed time and writes what the Go runtime
// tells about it, as a team would capture it from a running service.
package capture

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Load is a job that can run for as long as it is asked to.
type Load struct {
	Workers int                    // goroutines that call Step
	Step    func(worker int) error // one operation
}

// Main runs the load and writes the files that -files names. It does not
// return on an error.
func Main(setup func() (Load, error)) {
	out := flag.String("out", ".", "folder that receives the files")
	seconds := flag.Float64("seconds", 8, "length of the CPU profile")
	warmup := flag.Float64("warmup", 1, "load before the CPU profile starts")
	traced := flag.Float64("traced", 0.25, "length of the trace")
	files := flag.String("files", "cpu,allocs", "cpu, allocs, heap, goroutine, goroutineleak, block, mutex, trace, bench")
	flag.Parse()
	log.SetFlags(0)

	wanted := map[string]bool{}
	for _, name := range strings.Split(*files, ",") {
		wanted[name] = true
	}
	if wanted["block"] {
		runtime.SetBlockProfileRate(int(10 * time.Microsecond))
	}
	if wanted["mutex"] {
		runtime.SetMutexProfileFraction(5)
	}
	load, err := setup()
	check(err)

	var operations atomic.Int64
	var stopped atomic.Bool
	var workers sync.WaitGroup
	for i := 0; i < load.Workers; i++ {
		workers.Add(1)
		go func(worker int) {
			defer workers.Done()
			for !stopped.Load() {
				check(load.Step(worker))
				operations.Add(1)
			}
		}(i)
	}
	time.Sleep(span(*warmup))
	begin, before := time.Now(), operations.Load()
	var cpu *os.File
	if wanted["cpu"] {
		cpu = create(*out, "cpu.pb.gz")
		check(pprof.StartCPUProfile(cpu))
	}
	time.Sleep(span(*seconds))
	took, done := time.Since(begin), operations.Load()-before
	if cpu != nil {
		pprof.StopCPUProfile()
		check(cpu.Close())
	}
	for _, name := range []string{"allocs", "heap", "block", "mutex", "goroutine", "goroutineleak"} {
		if wanted[name] {
			if name == "heap" {
				runtime.GC()
			}
			file := create(*out, name+".pb.gz")
			check(pprof.Lookup(name).WriteTo(file, 0))
			check(file.Close())
		}
	}
	if wanted["trace"] {
		file := create(*out, "trace.out")
		check(trace.Start(file))
		time.Sleep(span(*traced))
		trace.Stop()
		check(file.Close())
	}
	if wanted["bench"] {
		file := create(*out, "bench.txt")
		fmt.Fprintf(file, "goos: %s\ngoarch: %s\npkg: main\nBenchmarkLoad-%d\t%d\t%.1f ns/op\n",
			runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), done, float64(took.Nanoseconds())/float64(done))
		check(file.Close())
	}
	stopped.Store(true)
	// A worker that waits for ever is not waited for.
	ended := make(chan struct{})
	go func() { workers.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(2 * time.Second):
	}
}

func create(dir, name string) *os.File {
	file, err := os.Create(filepath.Join(dir, name))
	check(err)
	return file
}

func span(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
