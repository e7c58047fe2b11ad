package capture

import (
	"math"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cpuClasses exist from Go 1.20; an older runtime reports them as null.
var cpuClasses = []string{
	"/cpu/classes/gc/mark/assist:cpu-seconds",
	"/cpu/classes/gc/mark/dedicated:cpu-seconds",
	"/cpu/classes/gc/mark/idle:cpu-seconds",
	"/cpu/classes/gc/pause:cpu-seconds",
	"/cpu/classes/gc/total:cpu-seconds",
	"/cpu/classes/idle:cpu-seconds",
	"/cpu/classes/scavenge/assist:cpu-seconds",
	"/cpu/classes/scavenge/background:cpu-seconds",
	"/cpu/classes/scavenge/total:cpu-seconds",
	"/cpu/classes/total:cpu-seconds",
	"/cpu/classes/user:cpu-seconds",
}

type reading struct {
	at         time.Time
	operations int64
	latency    *latencies
	process    float64 // CPU seconds of this process
	machine    float64 // busy CPU seconds of all processes, NaN if unknown
	samples    []metrics.Sample
}

func (r *run) read() reading {
	samples := make([]metrics.Sample, 0, 128)
	for _, d := range metrics.All() {
		if !strings.HasPrefix(d.Name, "/godebug/") {
			samples = append(samples, metrics.Sample{Name: d.Name})
		}
	}
	metrics.Read(samples)
	return reading{
		at:         time.Now(),
		operations: r.operations.Load(),
		latency:    r.load.Latency.read(),
		process:    processCPU(),
		machine:    machineCPU(),
		samples:    samples,
	}
}

// difference describes the time between two readings. Counters become what was
// added in between ("delta"), gauges the value at the end ("level").
func difference(first, last reading) map[string]any {
	cumulative := map[string]bool{}
	for _, d := range metrics.All() {
		cumulative[d.Name] = d.Cumulative
	}
	delta, level := map[string]any{}, map[string]any{}
	for _, name := range cpuClasses {
		delta[name] = nil
	}
	for i, s := range last.samples {
		if cumulative[s.Name] {
			delta[s.Name] = subtract(first.samples[i].Value, s.Value)
		} else {
			level[s.Name] = subtract(metrics.Value{}, s.Value)
		}
	}
	process := last.process - first.process
	var others any
	if o := last.machine - first.machine - process; !math.IsNaN(o) {
		others = o
	}
	return map[string]any{
		"go_version":          runtime.Version(),
		"goos":                runtime.GOOS,
		"goarch":              runtime.GOARCH,
		"gomaxprocs":          runtime.GOMAXPROCS(0),
		"num_cpu":             runtime.NumCPU(),
		"wall_seconds":        last.at.Sub(first.at).Seconds(),
		"process_cpu_seconds": process,
		"other_cpu_seconds":   others,
		"delta":               delta,
		"level":               level,
	}
}

// subtract takes a zero first value as 0. A histogram becomes a list of
// {lower edge, upper edge, count}; an infinite edge is null.
func subtract(first, last metrics.Value) any {
	known := first.Kind() != metrics.KindBad
	switch last.Kind() {
	case metrics.KindUint64:
		if known {
			return last.Uint64() - first.Uint64()
		}
		return last.Uint64()
	case metrics.KindFloat64:
		if known {
			return last.Float64() - first.Float64()
		}
		return last.Float64()
	case metrics.KindFloat64Histogram:
		var before []uint64
		if known {
			before = first.Float64Histogram().Counts
		}
		return buckets(before, last.Float64Histogram())
	}
	return nil
}

func buckets(before []uint64, h *metrics.Float64Histogram) [][3]any {
	list := [][3]any{}
	for i, n := range h.Counts {
		if before != nil {
			n -= before[i]
		}
		if n > 0 {
			list = append(list, [3]any{edge(h.Buckets[i]), edge(h.Buckets[i+1]), n})
		}
	}
	return list
}

func edge(x float64) any {
	if math.IsInf(x, 0) {
		return nil
	}
	return x
}

func processCPU() float64 {
	var u syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// machineCPU adds up the busy columns of the first line of /proc/stat, which
// counts in hundredths of a second: user nice system idle iowait irq softirq
// steal.
func machineCPU() float64 {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return math.NaN()
	}
	line := strings.Fields(strings.SplitN(string(text), "\n", 2)[0])
	busy := 0.0
	for _, column := range []int{1, 2, 3, 6, 7, 8} {
		if column >= len(line) {
			return math.NaN()
		}
		ticks, err := strconv.ParseFloat(line[column], 64)
		if err != nil {
			return math.NaN()
		}
		busy += ticks / 100
	}
	return busy
}
