package main

import (
	"internal/trace"
	"os"
)

type oracleTransition struct {
	Time      int64  `json:"time_ns"`
	Scope     string `json:"scope"`
	ID        int64  `json:"id"`
	From      string `json:"from"`
	To        string `json:"to"`
	Reason    string `json:"reason"`
	Thread    int64  `json:"thread"`
	Proc      int64  `json:"proc"`
	Goroutine int64  `json:"goroutine"`
	// Stack is of who caused the event, Subject of the goroutine that changed.
	Stack   int `json:"stack"`
	Subject int `json:"subject_stack"`
}

type oracleMoved struct {
	Error       *string            `json:"error"`
	Transitions []oracleTransition `json:"transitions"`
	Stacks      [][]oracleFrame    `json:"stacks"`
}

// oracleTransitions lists the state transitions of goroutines and Ps, in Go's order.
func oracleTransitions(file *os.File) (*oracleMoved, error) {
	told, stacks := &oracleMoved{Transitions: []oracleTransition{}}, newOracleStacks()
	stopped, err := oracleEach(file, func(e *trace.Event) {
		if e.Kind() != trace.EventStateTransition {
			return
		}
		t := e.StateTransition()
		scope, id := oracleScope(t.Resource)
		var from, to string
		if t.Resource.Kind == trace.ResourceProc {
			f, t := t.Proc()
			from, to = f.String(), t.String()
		} else {
			f, t := t.Goroutine()
			from, to = f.String(), t.String()
		}
		told.Transitions = append(told.Transitions, oracleTransition{
			int64(e.Time()), scope, id, from, to, t.Reason,
			int64(e.Thread()), int64(e.Proc()), int64(e.Goroutine()),
			stacks.number(e.Stack()), stacks.number(t.Stack),
		})
	})
	if err != nil {
		return nil, err
	}
	if stopped != nil {
		text := stopped.Error()
		told.Error = &text
	}
	told.Stacks = stacks.List
	return told, nil
}
