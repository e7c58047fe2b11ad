//go:build go1.22

// Command waits plants one wait whose end is known, and writes an execution trace.
//
//	waits MODE TRACE
//
// Goroutines that ask are asker; what they wait for is in the function that the mode's
// name is in.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/trace"
	"sync"
	"time"
)

var modes = map[string]func(){
	"fsync": lockFsync, "sleep": lockSleep, "cpu": lockCPU, "channel": lockChannel,
	"pipeline": pipeline, "group": group, "flight": flight, "pool": pool,
	"worker": worker, "pingpong": pingPong, "timer": lockTimer, "callee": lockCallee,
	"begun": begun,
}

func main() {
	file, err := os.Create(os.Args[2])
	check(err)
	check(trace.Start(file))
	modes[os.Args[1]]()
	trace.Stop()
	check(file.Close())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// asking runs do rounds times in each of so many goroutines.
func asking(goroutines, rounds int, do func()) {
	var all sync.WaitGroup
	for range goroutines {
		all.Add(1)
		go asker(&all, rounds, do)
	}
	all.Wait()
}

func asker(all *sync.WaitGroup, rounds int, do func()) {
	defer all.Done()
	for range rounds {
		do()
	}
}

var sink uint64

//go:noinline
func burn(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
		for i := range uint64(1000) {
			sink += i * sink
		}
	}
}

// lockFsync holds a lock while a file is synced.
func lockFsync() {
	file, err := os.CreateTemp("", "waits")
	check(err)
	defer os.Remove(file.Name())
	var lock sync.Mutex
	data := make([]byte, 4096)
	asking(4, 25, func() {
		lock.Lock()
		defer lock.Unlock()
		_, err := file.Write(data)
		check(err)
		check(file.Sync())
	})
}

// lockSleep holds a lock while it sleeps.
func lockSleep() {
	var lock sync.Mutex
	asking(4, 25, func() {
		lock.Lock()
		defer lock.Unlock()
		time.Sleep(2 * time.Millisecond)
	})
}

// lockCPU holds a lock while it computes.
func lockCPU() {
	var lock sync.Mutex
	asking(3, 30, func() {
		lock.Lock()
		defer lock.Unlock()
		burn(2 * time.Millisecond)
	})
}

// lockTimer holds a lock while it selects, for which only a timer is ever ready.
func lockTimer() {
	var lock sync.Mutex
	never := make(chan int)
	asking(4, 25, func() {
		lock.Lock()
		defer lock.Unlock()
		select {
		case <-time.After(2 * time.Millisecond):
		case <-never:
		}
	})
}

// lockCallee holds a lock while it computes, and is next seen in another function.
func lockCallee() {
	var lock sync.Mutex
	asking(3, 30, func() {
		lock.Lock()
		burn(2 * time.Millisecond)
		lock.Unlock()
		rest()
	})
}

//go:noinline
func rest() {
	runtime.Gosched()
}

// begun answers in goroutines that begin after a while.
func begun() {
	asking(4, 25, func() {
		answer := make(chan int)
		go starter(answer)
		<-answer
	})
}

func starter(answer chan int) {
	time.Sleep(2 * time.Millisecond)
	go func() { answer <- 1 }()
}

// lockChannel holds a lock while another goroutine, answers, computes a reply.
func lockChannel() {
	var lock sync.Mutex
	questions, replies := make(chan int), make(chan int)
	go answers(questions, replies)
	asking(3, 30, func() {
		lock.Lock()
		defer lock.Unlock()
		questions <- 1
		<-replies
	})
	close(questions)
}

func answers(questions, replies chan int) {
	for range questions {
		burn(2 * time.Millisecond)
		replies <- 1
	}
}

// pipeline has three stages; slowStage takes the time.
func pipeline() {
	first, second, done := make(chan int), make(chan int), make(chan int)
	go firstStage(first)
	go secondStage(first, second)
	go slowStage(second, done)
	asking(1, 1, func() { <-done })
}

func firstStage(out chan int) {
	for i := range 100 {
		out <- i
	}
	close(out)
}

func secondStage(in, out chan int) {
	for i := range in {
		out <- i
	}
	close(out)
}

func slowStage(in, done chan int) {
	for range in {
		burn(2 * time.Millisecond)
	}
	done <- 1
}

// group waits for four goroutines, of which slowMember is slow.
func group() {
	asking(1, 25, func() {
		var all sync.WaitGroup
		all.Add(4)
		for range 3 {
			go quickMember(&all)
		}
		go slowMember(&all)
		all.Wait()
	})
}

func quickMember(all *sync.WaitGroup) { all.Done() }

func slowMember(all *sync.WaitGroup) {
	time.Sleep(4 * time.Millisecond)
	all.Done()
}

// flight makes the same call once for several that ask at a time.
func flight() {
	var lock sync.Mutex
	var current chan int
	asking(4, 25, func() {
		lock.Lock()
		if call := current; call != nil {
			lock.Unlock()
			<-call
			return
		}
		call := make(chan int)
		current = call
		lock.Unlock()
		time.Sleep(3 * time.Millisecond)
		lock.Lock()
		current = nil
		lock.Unlock()
		close(call)
	})
}

// pool has two connections for eight that ask.
func pool() {
	connections := make(chan int, 2)
	connections <- 1
	connections <- 2
	asking(8, 15, func() {
		one := <-connections
		time.Sleep(2 * time.Millisecond)
		connections <- one
	})
}

// worker has one goroutine, serve, that works for all that ask.
func worker() {
	jobs := make(chan chan int)
	go serve(jobs)
	asking(4, 25, func() {
		reply := make(chan int)
		jobs <- reply
		<-reply
	})
	close(jobs)
}

func serve(jobs chan chan int) {
	for reply := range jobs {
		burn(2 * time.Millisecond)
		reply <- 1
	}
}

// pingPong hands a token back and forth; each side computes before it does.
func pingPong() {
	ping, pong := make(chan int), make(chan int)
	go ponger(ping, pong)
	asking(1, 100, func() {
		ping <- 1
		<-pong
	})
	close(ping)
}

func ponger(ping, pong chan int) {
	for range ping {
		burn(time.Millisecond)
		pong <- 1
	}
}
