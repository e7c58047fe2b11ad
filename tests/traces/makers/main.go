// Command makers runs one situation under a trace: makers NAME OUT. It is built from
// named files, without a module, by every Go from 1.11 on: ioutil, no generics.
package main

import (
	"fmt"
	"os"
	"runtime/trace"
)

// A situation runs between trace.Start and trace.Stop; before, if any, runs first.
type situation struct {
	before, during, after func()
}

var situations = map[string]situation{}

// recorders write the trace themselves.
var recorders = map[string]func(out *os.File){}

func main() {
	name := os.Args[1]
	out, err := os.Create(os.Args[2])
	check(err)
	if record := recorders[name]; record != nil {
		record(out)
		check(out.Close())
		return
	}
	s, ok := situations[name]
	if !ok {
		check(fmt.Errorf("no such situation: %s", name))
	}
	if s.before != nil {
		s.before()
	}
	check(trace.Start(out))
	s.during()
	trace.Stop()
	if s.after != nil {
		s.after()
	}
	check(out.Close())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
