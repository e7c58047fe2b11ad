package main

import (
	"fmt"
	"internal/trace"
	"strings"
)

// oracleOrigin is the event that made a goroutine known: its creation by another, or
// the status the trace first gives of it ("Undetermined" from).
type oracleOrigin struct {
	From          string `json:"from"`
	Creator       int64  `json:"creator"`
	CreationStack int    `json:"creation_stack"`
}

type oracleSync struct {
	Time  int64  `json:"time_ns"`
	N     int    `json:"n"`
	Trace *int64 `json:"clock_trace_ns"`
	Mono  *int64 `json:"clock_mono_ns"`
	Wall  *int64 `json:"clock_wall_ns"`
}

// oracleRange is a range of time with a name. It has no end if the trace ends first. If
// it was Active before the trace told of it, its start is the time of that event.
type oracleRange struct {
	Name       string            `json:"name"`
	Scope      string            `json:"scope"`
	ScopeID    int64             `json:"scope_id"`
	Active     bool              `json:"active"`
	Start      int64             `json:"start_ns"`
	End        *int64            `json:"end_ns"`
	Goroutine  int64             `json:"goroutine"`
	Proc       int64             `json:"proc"`
	Stack      int               `json:"stack"`
	Attributes map[string]uint64 `json:"attributes"`
	// LastStop is when the last P stopped inside a stop-the-world: no tool of Go's
	// shows it; what comes before it is the wait for the Ps.
	LastStop *int64 `json:"last_stop_ns"`
	key      string
}

type oracleSample struct {
	Time      int64 `json:"time_ns"`
	Thread    int64 `json:"thread"`
	Proc      int64 `json:"proc"`
	Goroutine int64 `json:"goroutine"`
	Stack     int   `json:"stack"`
}

type oracleLog struct {
	Time      int64  `json:"time_ns"`
	Goroutine int64  `json:"goroutine"`
	Task      uint64 `json:"task"`
	Category  string `json:"category"`
	Message   string `json:"message"`
}

type oracleLabel struct {
	Time      int64  `json:"time_ns"`
	Goroutine int64  `json:"goroutine"`
	Label     string `json:"label"`
}

// oracleGC is the sum of the ranges "GC concurrent mark phase". A cycle that was on
// when the trace began counts from the first sync, one that is on at its end to the last.
type oracleGC struct {
	Begun    int   `json:"begun"`
	Ended    int   `json:"ended"`
	MarkWall int64 `json:"mark_wall_ns"`
}

// oracleFacts is what events say one by one, without trace.Summarizer.
type oracleFacts struct {
	Events       int                        `json:"events"`
	ValidEvents  int                        `json:"valid_events"`
	First        int64                      `json:"first_ns"`
	Last         int64                      `json:"last_ns"`
	Kinds        map[string]int             `json:"kinds"`
	Transitions  map[string]map[string]int  `json:"transitions"`
	Reasons      map[string]int             `json:"reasons"`
	Syncs        []oracleSync               `json:"syncs"`
	Metrics      map[string][][2]uint64     `json:"metrics"`
	Ranges       []*oracleRange             `json:"ranges"`
	RangeCounts  map[string]int             `json:"range_counts"`
	GC           oracleGC                   `json:"gc"`
	Procs        map[int64]map[string]int64 `json:"procs"`
	Labels       []oracleLabel              `json:"labels"`
	Logs         []oracleLog                `json:"logs"`
	Samples      []oracleSample             `json:"cpu_samples"`
	Experimental map[string]int             `json:"experimental"`
	Batches      map[string]int             `json:"experimental_batches"`
	Stacks       [][]oracleFrame            `json:"stacks"`
	oracleUse

	stacks   *oracleStacks
	origins  map[trace.GoID]oracleOrigin
	open     map[string]*oracleRange
	procFrom map[int64]oracleMoment
}

type oracleMoment struct {
	state string
	time  int64
}

func newOracleFacts() *oracleFacts {
	return &oracleFacts{
		Kinds: map[string]int{}, Reasons: map[string]int{},
		Transitions: map[string]map[string]int{"goroutine": {}, "proc": {}},
		Metrics:     map[string][][2]uint64{},
		RangeCounts: map[string]int{},
		Syncs:       []oracleSync{}, Ranges: []*oracleRange{}, Labels: []oracleLabel{},
		Logs: []oracleLog{}, Samples: []oracleSample{},
		Procs:        map[int64]map[string]int64{},
		Experimental: map[string]int{}, Batches: map[string]int{},
		oracleUse: newOracleUse(),
		stacks:    newOracleStacks(), origins: map[trace.GoID]oracleOrigin{},
		open: map[string]*oracleRange{}, procFrom: map[int64]oracleMoment{},
	}
}

func (f *oracleFacts) see(e *trace.Event) {
	time := int64(e.Time())
	if f.Events == 0 {
		f.First = time
	}
	f.Events++
	f.Last = time
	f.Kinds[e.Kind().String()]++
	switch e.Kind() {
	case trace.EventSync:
		f.seeSync(e)
	case trace.EventMetric:
		m := e.Metric()
		f.Metrics[m.Name] = append(f.Metrics[m.Name], [2]uint64{uint64(time), m.Value.Uint64()})
	case trace.EventLabel:
		l := e.Label()
		_, id := oracleScope(l.Resource)
		f.Labels = append(f.Labels, oracleLabel{time, id, l.Label})
		f.seeLabel(id, l.Label)
	case trace.EventStackSample:
		f.Samples = append(f.Samples, oracleSample{time, int64(e.Thread()), int64(e.Proc()),
			int64(e.Goroutine()), f.stacks.number(e.Stack())})
	case trace.EventRangeBegin, trace.EventRangeActive:
		f.seeBegin(e)
	case trace.EventRangeEnd:
		f.seeEnd(e)
	case trace.EventLog:
		l := e.Log()
		f.Logs = append(f.Logs, oracleLog{time, int64(e.Goroutine()), uint64(l.Task),
			l.Category, l.Message})
	case trace.EventExperimental:
		f.Experimental[e.Experimental().Name]++
	case trace.EventStateTransition:
		f.seeTransition(e)
	}
}

func (f *oracleFacts) seeSync(e *trace.Event) {
	f.ValidEvents = f.Events
	s := e.Sync()
	told := oracleSync{Time: int64(e.Time()), N: s.N}
	if c := s.ClockSnapshot; c != nil {
		traced, mono, wall := int64(c.Trace), int64(c.Mono), c.Wall.UnixNano()
		told.Trace, told.Mono, told.Wall = &traced, &mono, &wall
	}
	for name, batches := range s.ExperimentalBatches {
		f.Batches[name] += len(batches)
	}
	f.Syncs = append(f.Syncs, told)
}

func oracleRangeKey(r trace.Range) string {
	return fmt.Sprintf("%s of %s", r.Name, r.Scope)
}

func (f *oracleFacts) seeBegin(e *trace.Event) {
	r := e.Range()
	key := oracleRangeKey(r)
	active := e.Kind() == trace.EventRangeActive
	if f.open[key] != nil && active {
		return // said again at the start of a generation
	}
	scope, id := oracleScope(r.Scope)
	begun := &oracleRange{Name: r.Name, Scope: scope, ScopeID: id, Active: active,
		Start: int64(e.Time()), Goroutine: int64(e.Goroutine()), Proc: int64(e.Proc()),
		Stack: f.stacks.number(e.Stack()), key: key}
	f.open[key] = begun
	f.Ranges = append(f.Ranges, begun)
	f.RangeCounts[r.Name]++
	if scope == "goroutine" && r.Name == oracleAssist {
		f.setAssist(id, begun.Start, true)
	}
}

func (f *oracleFacts) seeEnd(e *trace.Event) {
	r := e.Range()
	key := oracleRangeKey(r)
	ended := f.open[key]
	if ended == nil {
		return
	}
	delete(f.open, key)
	time := int64(e.Time())
	ended.End = &time
	for _, attribute := range e.RangeAttributes() {
		if ended.Attributes == nil {
			ended.Attributes = map[string]uint64{}
		}
		ended.Attributes[attribute.Name] = attribute.Value.Uint64()
	}
	if ended.Scope == "goroutine" && r.Name == oracleAssist {
		f.setAssist(ended.ScopeID, time, false)
	}
}

func (f *oracleFacts) seeTransition(e *trace.Event) {
	t := e.StateTransition()
	time := int64(e.Time())
	scope, id := oracleScope(t.Resource)
	if t.Resource.Kind == trace.ResourceProc {
		from, to := t.Proc()
		f.Transitions[scope][from.String()+"->"+to.String()]++
		if from != to {
			f.seeProc(id, from.String(), to.String(), time)
		}
		return
	}
	from, to := t.Goroutine()
	f.Transitions[scope][from.String()+"->"+to.String()]++
	if from == to {
		return
	}
	if from != trace.GoUndetermined {
		f.Reasons[t.Reason]++
	}
	if from == trace.GoUndetermined || from == trace.GoNotExist {
		f.origins[trace.GoID(id)] = oracleOrigin{from.String(), int64(e.Goroutine()),
			f.stacks.number(e.Stack())}
	}
	f.use(e, id, from, to)
}

// seeProc adds up a P's time in each state; before its first event, from the last sync.
func (f *oracleFacts) seeProc(id int64, from, to string, time int64) {
	sums := f.Procs[id]
	if sums == nil {
		sums = map[string]int64{}
		f.Procs[id] = sums
	}
	last, known := f.procFrom[id]
	switch {
	case known:
		sums[last.state] += time - last.time
	case from == "Undetermined":
		sums[to] += time - f.Syncs[len(f.Syncs)-1].Time
	}
	f.procFrom[id] = oracleMoment{to, time}
	if to != "Idle" || from == "Undetermined" || from == "Idle" {
		return // it did not stop now
	}
	for _, r := range f.open {
		if strings.HasPrefix(r.Name, "stop-the-world") {
			stop := time
			r.LastStop = &stop
		}
	}
}

func (f *oracleFacts) finish() {
	for id, last := range f.procFrom {
		f.Procs[id][last.state] += f.Last - last.time
	}
	for _, r := range f.Ranges {
		if r.Name != "GC concurrent mark phase" {
			continue
		}
		start, end := r.Start, f.Last
		if r.Active {
			start = f.First
		} else {
			f.GC.Begun++
		}
		if r.End != nil {
			f.GC.Ended++
			end = *r.End
		}
		f.GC.MarkWall += end - start
	}
	f.oracleUse.finish(f.Last)
	f.Stacks = f.stacks.List
}
