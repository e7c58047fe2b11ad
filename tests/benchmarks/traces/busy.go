// Command busy does one kind of work until its trace has so many bytes: busy NAME BYTES
// OUT. What the runtime still holds when it stops comes on top.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/trace"
	"strconv"
	"sync"
	"syscall"
)

type kind struct {
	work   func(rounds int)
	rounds int // that take a tenth of a second or so
}

var kinds = map[string]kind{
	"syscalls":   {syscalls, 1 << 13},
	"gc":         {collections, 16},
	"goroutines": {goroutines, 1 << 9},
	"objects":    {objects, 1 << 5},
}

func main() {
	kind := kinds[os.Args[1]]
	size, err := strconv.ParseInt(os.Args[2], 10, 64)
	check(err)
	out, err := os.Create(os.Args[3])
	check(err)
	check(trace.Start(out))
	for written := int64(0); written < size; {
		kind.work(kind.rounds)
		info, err := out.Stat()
		check(err)
		written = info.Size()
	}
	trace.Stop()
	check(out.Close())
}

// syscalls writes to nowhere, and passes a byte to and fro through pipes that the poller
// does not know: reading them keeps a thread, and now and then costs the processor.
func syscalls(rounds int) {
	runtime.GOMAXPROCS(8)
	var group sync.WaitGroup
	for i := 0; i < 4; i++ {
		var there, back [2]int
		check(syscall.Pipe(there[:]))
		check(syscall.Pipe(back[:]))
		group.Add(2)
		go func() { asks(there[1], back[0], rounds); group.Done() }()
		go func() { answers(there[0], back[1], rounds/8); group.Done() }()
	}
	group.Wait()
}

func asks(out, in, rounds int) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	check(err)
	line, one := []byte("one line of a log"), make([]byte, 1)
	for i := 0; i < rounds; i++ {
		null.Write(line)
		if i%8 == 7 {
			syscall.Write(out, one)
			syscall.Read(in, one)
		}
	}
}

func answers(in, out, rounds int) {
	one := make([]byte, 1)
	for i := 0; i < rounds; i++ {
		syscall.Read(in, one)
		syscall.Write(out, one)
	}
}

type node struct {
	left, right *node
	payload     [200]byte
}

func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{left: tree(depth - 1), right: tree(depth - 1)}
}

// collections allocates from more goroutines than there are processors, with a heap of
// pointers and a GOGC so low that collecting hardly ends: assists, sweeping, stops.
func collections(rounds int) {
	runtime.GOMAXPROCS(4)
	debug.SetGCPercent(10)
	kept := tree(12)
	var group sync.WaitGroup
	for i := 0; i < 16; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for j := 0; j < rounds; j++ {
				half := make(chan *node)
				go func() { half <- tree(6) }()
				runtime.KeepAlive(tree(6))
				<-half
			}
		}()
	}
	group.Wait()
	runtime.KeepAlive(kept)
}

// goroutines starts many that are soon done, some of which start and await another one.
func goroutines(rounds int) {
	var starters sync.WaitGroup
	for i := 0; i < 8; i++ {
		starters.Add(1)
		go func() {
			defer starters.Done()
			for j := 0; j < rounds; j++ {
				var group sync.WaitGroup
				for k := 0; k < 16; k++ {
					group.Add(1)
					go func() {
						defer group.Done()
						if k%4 == 0 {
							answer := make(chan int)
							go func() { answer <- k }()
							<-answer
						}
					}()
				}
				group.Wait()
			}
		}()
	}
	starters.Wait()
}

// objects allocates trees and forgets them, and lets stacks grow: under
// GODEBUG=traceallocfree=1 each object, span and stack is an event.
func objects(rounds int) {
	var group sync.WaitGroup
	for i := 0; i < 4; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for j := 0; j < rounds; j++ {
				done := make(chan bool)
				go func() { deep(64); close(done) }()
				runtime.KeepAlive(tree(8))
				<-done
			}
		}()
	}
	group.Wait()
}

func deep(calls int) byte {
	var frame [256]byte
	if calls > 0 {
		frame[calls] = deep(calls - 1)
	}
	return frame[calls]
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
