package main

import (
	"internal/trace"
	"io"
	"os"
	"slices"
)

type oracleStats struct {
	Exec         int64            `json:"exec_ns"`
	SchedWait    int64            `json:"sched_wait_ns"`
	Syscall      int64            `json:"syscall_ns"`
	SyscallBlock int64            `json:"syscall_block_ns"`
	Block        map[string]int64 `json:"block_ns"`
	Range        map[string]int64 `json:"range_ns"`
	Total        int64            `json:"total_ns"`
	Unknown      int64            `json:"unknown_ns"`
}

func newOracleStats(s trace.GoroutineExecStats) oracleStats {
	stats := oracleStats{
		Exec:         int64(s.ExecTime),
		SchedWait:    int64(s.SchedWaitTime),
		Syscall:      int64(s.SyscallTime),
		SyscallBlock: int64(s.SyscallBlockTime),
		Block:        map[string]int64{},
		Range:        map[string]int64{},
		Total:        int64(s.TotalTime),
		Unknown:      int64(s.UnknownTime()),
	}
	for reason, d := range s.BlockTimeByReason {
		stats.Block[reason] = int64(d)
	}
	for name, d := range s.RangeTime {
		stats.Range[name] = int64(d)
	}
	return stats
}

// oracleRegion has no start or end where the trace has none. A region without a name is
// a goroutine's inheritance of the task its creator worked on.
type oracleRegion struct {
	Name  string `json:"name"`
	Task  uint64 `json:"task"`
	Start *int64 `json:"start_ns"`
	End   *int64 `json:"end_ns"`
	oracleStats
}

type oracleGoroutine struct {
	ID       int64          `json:"id"`
	Name     string         `json:"name"`
	PC       uint64         `json:"pc"`
	Creation int64          `json:"creation_ns"`
	Start    *int64         `json:"start_ns"`
	End      *int64         `json:"end_ns"`
	Regions  []oracleRegion `json:"regions"`
	oracleStats
	oracleOrigin
}

type oracleTask struct {
	ID         uint64  `json:"id"`
	Name       string  `json:"name"`
	Parent     *uint64 `json:"parent"`
	Start      *int64  `json:"start_ns"`
	End        *int64  `json:"end_ns"`
	Complete   bool    `json:"complete"`
	Regions    int     `json:"regions"`
	Logs       int     `json:"logs"`
	Goroutines []int64 `json:"goroutines"`
}

func oracleTime(e *trace.Event) *int64 {
	if e == nil {
		return nil
	}
	t := int64(e.Time())
	return &t
}

// oracleSome is a time, or nothing for Go's 0.
func oracleSome(t trace.Time) *int64 {
	if t == 0 {
		return nil
	}
	some := int64(t)
	return &some
}

type oracleSummarized struct {
	Error      *string           `json:"error"`
	Bytes      int64             `json:"bytes"`
	Goroutines []oracleGoroutine `json:"goroutines"`
	Tasks      []oracleTask      `json:"tasks"`
	*oracleFacts
}

// oracleSummary is what trace.Summarizer says, and the facts beside it. As in go tool
// trace, a summary is made of all events before an error, if there is one.
func oracleSummary(file *os.File) (*oracleSummarized, error) {
	summarizer, facts := trace.NewSummarizer(), newOracleFacts()
	stopped, err := oracleEach(io.Reader(file), func(e *trace.Event) {
		kept := *e
		summarizer.Event(&kept)
		facts.see(e)
	})
	if err != nil {
		return nil, err
	}
	told := &oracleSummarized{
		Goroutines: []oracleGoroutine{}, Tasks: []oracleTask{}, oracleFacts: facts,
	}
	if stopped != nil {
		text := stopped.Error()
		told.Error = &text
	}
	if stat, err := file.Stat(); err == nil {
		told.Bytes = stat.Size()
	}
	facts.finish()
	summary := summarizer.Finalize()
	facts.settle(summary.Goroutines)
	for _, g := range summary.Goroutines {
		told.Goroutines = append(told.Goroutines, newOracleGoroutine(g, facts))
	}
	slices.SortFunc(told.Goroutines, func(a, b oracleGoroutine) int { return int(a.ID - b.ID) })
	for _, t := range summary.Tasks {
		told.Tasks = append(told.Tasks, newOracleTask(t))
	}
	slices.SortFunc(told.Tasks, func(a, b oracleTask) int { return int(a.ID) - int(b.ID) })
	return told, nil
}

func newOracleGoroutine(g *trace.GoroutineSummary, facts *oracleFacts) oracleGoroutine {
	told := oracleGoroutine{
		ID:           int64(g.ID),
		Name:         g.Name,
		PC:           g.PC,
		Creation:     int64(g.CreationTime),
		Start:        oracleSome(g.StartTime),
		End:          oracleSome(g.EndTime),
		Regions:      []oracleRegion{},
		oracleStats:  newOracleStats(g.GoroutineExecStats),
		oracleOrigin: facts.origins[g.ID],
	}
	for _, r := range g.Regions {
		told.Regions = append(told.Regions, oracleRegion{
			r.Name, uint64(r.TaskID), oracleTime(r.Start), oracleTime(r.End),
			newOracleStats(r.GoroutineExecStats),
		})
	}
	return told
}

func newOracleTask(t *trace.UserTaskSummary) oracleTask {
	told := oracleTask{
		ID: uint64(t.ID), Name: t.Name, Start: oracleTime(t.Start), End: oracleTime(t.End),
		Complete: t.Complete(), Regions: len(t.Regions), Logs: len(t.Logs),
		Goroutines: []int64{},
	}
	if t.Parent != nil {
		parent := uint64(t.Parent.ID)
		told.Parent = &parent
	}
	for id := range t.Goroutines {
		told.Goroutines = append(told.Goroutines, int64(id))
	}
	slices.Sort(told.Goroutines)
	return told
}
