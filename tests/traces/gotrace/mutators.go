package main

import (
	"fmt"
	"internal/trace"
	"os"
	"time"
)

var oracleWindows = []time.Duration{
	1e3, 1e4, 1e5, 1e6, 2e6, 5e6, 1e7, 2e7, 5e7, 1e8, 1e9, 1e10,
}

// oracleQuantiles are those of the page /mmu: p99.9, p99 and p95.
var oracleQuantiles = []float64{1 - .999, 1 - .99, 1 - .95}

var oracleFlags = []struct {
	name string
	flag trace.UtilFlags
}{
	{"stw", trace.UtilSTW}, {"background", trace.UtilBackground},
	{"assist", trace.UtilAssist}, {"sweep", trace.UtilSweep},
	{"per_proc", trace.UtilPerProc},
}

type oracleWindow struct {
	Window    int64     `json:"window_ns"`
	MMU       float64   `json:"mmu"`
	Quantiles []float64 `json:"quantiles"`
}

type oracleMutator struct {
	Flags   []string       `json:"flags"`
	Fixed   bool           `json:"corrected"`
	Series  int            `json:"series"`
	Points  int            `json:"points"`
	Mean    []float64      `json:"mean"`
	Windows []oracleWindow `json:"windows"`
	Panic   *string        `json:"panic"`
	Steps   [][][2]float64 `json:"steps,omitempty"`
}

// oracleMutators tells mutator utilization for every set of flags, by Go's function and
// by its corrected copy (see oracle.py).
func oracleMutators(file *os.File, steps bool) ([]oracleMutator, error) {
	var events []trace.Event
	// As in go tool trace: what follows the last sync of a broken trace is left out.
	valid := 0
	_, err := oracleEach(file, func(e *trace.Event) {
		events = append(events, *e)
		if e.Kind() == trace.EventSync {
			valid = len(events)
		}
	})
	if err != nil {
		return nil, err
	}
	events = events[:valid]
	told := []oracleMutator{}
	for flags := trace.UtilFlags(0); flags < 1<<len(oracleFlags); flags++ {
		told = append(told,
			oracleMutatorOf(trace.MutatorUtilizationV2, events, flags, steps),
			oracleMutatorOf(trace.MutatorUtilizationCorrected, events, flags, steps))
		told[len(told)-1].Fixed = true
	}
	return told, nil
}

type oracleUtilization func([]trace.Event, trace.UtilFlags) [][]trace.MutatorUtil

func oracleMutatorOf(
	utilization oracleUtilization, events []trace.Event, flags trace.UtilFlags, steps bool,
) (told oracleMutator) {
	told = oracleMutator{Flags: []string{}, Mean: []float64{}, Windows: []oracleWindow{}}
	for _, f := range oracleFlags {
		if flags&f.flag != 0 {
			told.Flags = append(told.Flags, f.name)
		}
	}
	defer func() {
		if panicked := recover(); panicked != nil {
			text := fmt.Sprint(panicked)
			told.Panic = &text
		}
	}()
	series := utilization(events, flags)
	told.Series = len(series)
	usable := [][]trace.MutatorUtil{}
	for _, s := range series {
		sum, last := 0.0, len(s)-1
		list := [][2]float64{}
		for i, u := range s {
			if i < last {
				sum += u.Util * float64(s[i+1].Time-u.Time)
			}
			// Relative to the first step: floats hold it exactly.
			list = append(list, [2]float64{float64(u.Time - s[0].Time), u.Util})
		}
		told.Points += len(s)
		if steps {
			told.Steps = append(told.Steps, list)
		}
		if last > 0 {
			usable = append(usable, s)
			told.Mean = append(told.Mean, sum/float64(s[last].Time-s[0].Time))
		}
	}
	if len(usable) == 0 {
		return told
	}
	curve := trace.NewMMUCurve(usable)
	for _, w := range oracleWindows {
		told.Windows = append(told.Windows, oracleWindow{
			int64(w), curve.MMU(w), curve.MUD(w, oracleQuantiles),
		})
	}
	return told
}
