package main

import "internal/trace"

const oracleAssist = "GC mark assist"

// oracleWait is a time that a goroutine waited to run, from the event that made it
// runnable to its start. Cause is what it did before: "created", "yielded" (with the
// reason), "syscall", "unblocked" (with the reason of the block), or "unknown" at the
// edge of a trace. By is the goroutine that made it runnable, -1 for none.
type oracleWait struct {
	Goroutine int64  `json:"goroutine"`
	Start     int64  `json:"start_ns"`
	End       int64  `json:"end_ns"`
	Cause     string `json:"cause"`
	Reason    string `json:"reason"`
	By        int64  `json:"by"`
}

// oracleUse is ours, by Go's events: who ran for the GC, and who waited for what.
type oracleUse struct {
	// Workers is the time that mark workers ran, by label: "GC (dedicated)", …. Go also
	// labels, now and then, a goroutine of the program that runs on a P which a worker
	// was meant for: such runs are Mislabelled, by goroutine.
	Workers     map[string]int64 `json:"mark_worker_ns"`
	Mislabelled map[int64]int64  `json:"mislabelled_ns"`
	// Assists is the time of mark assists by the state the goroutine was in.
	Assists map[string]int64 `json:"assist_ns"`
	Waits   []oracleWait     `json:"sched_waits"`
	now     map[int64]*oracleState
	runs    map[oracleRun]int64
}

type oracleRun struct {
	goroutine int64
	label     string
}

type oracleState struct {
	state       trace.GoState
	since       int64
	label       string
	assisting   bool
	assistSince int64
	reason      string
	cause       string
	causeReason string
	by          int64
}

func newOracleUse() oracleUse {
	return oracleUse{
		Workers: map[string]int64{}, Mislabelled: map[int64]int64{},
		Assists: map[string]int64{}, Waits: []oracleWait{},
		now: map[int64]*oracleState{}, runs: map[oracleRun]int64{},
	}
}

func (u *oracleUse) seeLabel(id int64, label string) {
	if s := u.now[id]; s != nil {
		s.label = label
	}
}

func (u *oracleUse) setAssist(id, time int64, on bool) {
	s := u.now[id]
	if s == nil {
		return
	}
	if s.assisting {
		u.Assists[s.state.String()] += time - s.assistSince
	}
	s.assisting, s.assistSince = on, time
}

func (u *oracleUse) use(e *trace.Event, id int64, from, to trace.GoState) {
	t, time := e.StateTransition(), int64(e.Time())
	s := u.now[id]
	if s == nil {
		s = &oracleState{}
		u.now[id] = s
	}
	u.leave(s, id, time)
	if to == trace.GoRunnable {
		s.by = int64(e.Goroutine())
		switch from {
		case trace.GoNotExist:
			s.cause, s.causeReason = "created", ""
		case trace.GoRunning:
			s.cause, s.causeReason = "yielded", t.Reason
		case trace.GoSyscall:
			s.cause, s.causeReason = "syscall", ""
		case trace.GoWaiting:
			s.cause, s.causeReason = "unblocked", s.reason
		default:
			s.cause, s.causeReason = "unknown", ""
		}
	}
	s.state, s.since, s.reason = to, time, t.Reason
	if to == trace.GoNotExist {
		delete(u.now, id)
	}
}

// leave adds up the state a goroutine has been in until a time.
func (u *oracleUse) leave(s *oracleState, id, time int64) {
	if s.assisting {
		u.Assists[s.state.String()] += time - s.assistSince
		s.assistSince = time
	}
	if s.state == trace.GoRunning && s.label != "" {
		u.runs[oracleRun{id, s.label}] += time - s.since
		s.label = ""
	}
	if s.state == trace.GoRunnable {
		u.Waits = append(u.Waits, oracleWait{id, s.since, time, s.cause, s.causeReason, s.by})
	}
}

// settle tells workers from others by the name of their function, where it is known.
func (u *oracleUse) settle(goroutines map[trace.GoID]*trace.GoroutineSummary) {
	for run, time := range u.runs {
		g := goroutines[trace.GoID(run.goroutine)]
		if g.Name == "" || g.Name == "runtime.gcBgMarkWorker" {
			u.Workers[run.label] += time
		} else {
			u.Mislabelled[run.goroutine] += time
		}
	}
}

// finish adds what is still on at the end; a wait that has not ended is no wait yet.
func (u *oracleUse) finish(last int64) {
	for id, s := range u.now {
		if s.state != trace.GoRunnable {
			u.leave(s, id, last)
		} else if s.assisting {
			u.Assists[s.state.String()] += last - s.assistSince
		}
	}
}
