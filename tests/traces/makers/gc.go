package main

import (
	"io/ioutil"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
)

func init() {
	situations["gc"] = situation{during: collect}
	situations["stops"] = situation{during: stop}
	situations["alloc"] = situation{during: func() { grow(2, 4, 2000) }}
}

type node struct {
	left, right *node
	payload     [40]byte
}

func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{left: tree(depth - 1), right: tree(depth - 1)}
}

var kept []*node

// collect allocates from more goroutines than there are Ps, with a low GOGC and pointers
// to follow, so that the pacer asks for assists.
func collect() {
	runtime.GOMAXPROCS(4)
	debug.SetGCPercent(20)
	kept = append(kept, tree(15))
	grow(8, 12, 3000)
	runtime.GC()
	debug.SetGCPercent(-1)
	kept = nil
	debug.SetGCPercent(100)
	runtime.GC()
}

// grow keeps some of the trees that goroutines make.
func grow(goroutines, depth, trees int) {
	var group sync.WaitGroup
	for i := 0; i < goroutines; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			var last [16]*node
			for j := 0; j < trees>>uint(depth/2); j++ {
				last[j%len(last)] = tree(depth)
			}
			runtime.KeepAlive(last)
		}()
	}
	group.Wait()
}

// stop stops the world for every reason that a program has.
func stop() {
	for i := 0; i < 3; i++ {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		runtime.Stack(make([]byte, 1<<16), true)
		check(pprof.Lookup("goroutine").WriteTo(ioutil.Discard, 0))
		runtime.GC()
		runtime.GOMAXPROCS(2 + i)
	}
}
