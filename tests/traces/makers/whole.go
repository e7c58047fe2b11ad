package main

import (
	"context"
	"io/ioutil"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"syscall"
	"time"
)

func init() {
	situations["whole"] = situation{before: enter, during: live, after: leave}
	situations["profiled"] = situation{
		before: profile, during: enterInTrace, after: leaveProfiled,
	}
	situations["samples"] = situation{during: samples}
	situations["generations"] = situation{during: func() { churn(1200 * time.Millisecond) }}
}

var (
	quit  = make(chan bool)
	ends  [2]int
	early [2]int
	lives sync.WaitGroup
)

// enter starts what lives through the whole trace, each in a state of its own.
func enter() {
	runtime.GOMAXPROCS(3)
	check(syscall.Pipe(ends[:]))
	lives.Add(4)
	go blockedThroughout()
	go inSyscallThroughout()
	go runningThroughout()
	go asleepThroughout()
	time.Sleep(100 * time.Millisecond)
}

func blockedThroughout() {
	<-quit
	lives.Done()
}

func inSyscallThroughout() {
	syscall.Read(ends[0], make([]byte, 1))
	lives.Done()
}

func runningThroughout() {
	for {
		select {
		case <-quit:
			lives.Done()
			return
		default:
		}
	}
}

func asleepThroughout() {
	time.Sleep(time.Second)
	lives.Done()
}

// live begins nothing: what it ends, and leaves open, began before or ends after.
func live() {
	time.Sleep(20 * time.Millisecond)
	trace.WithRegion(context.Background(), "inside", func() { spin(time.Millisecond) })
}

func leave() {
	close(quit)
	syscall.Write(ends[1], []byte{1})
	lives.Wait()
}

// profile starts a CPU profile, and waits until its writer sleeps in a system call.
func profile() {
	runtime.GOMAXPROCS(3)
	check(syscall.Pipe(ends[:]))
	check(syscall.Pipe(early[:]))
	lives.Add(3)
	go inSyscallThroughout()
	go inSyscallAtFirst()
	check(pprof.StartCPUProfile(ioutil.Discard))
	time.Sleep(100 * time.Millisecond)
}

// enterInTrace begins a system call that is open when the trace ends, and ends one that
// was open when it began.
func enterInTrace() {
	go inSyscallToTheEnd()
	spin(60 * time.Millisecond)
	syscall.Write(early[1], []byte{1})
	time.Sleep(10 * time.Millisecond)
}

func inSyscallAtFirst() {
	syscall.Read(early[0], make([]byte, 1))
	lives.Done()
}

func inSyscallToTheEnd() {
	syscall.Read(ends[0], make([]byte, 1))
	lives.Done()
}

func leaveProfiled() {
	syscall.Write(ends[1], []byte{1, 1})
	lives.Wait()
	pprof.StopCPUProfile()
}

// samples has a CPU profile on while tracing.
func samples() {
	check(pprof.StartCPUProfile(ioutil.Discard))
	var group sync.WaitGroup
	for i := 0; i < 2; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			spin(250 * time.Millisecond)
		}()
	}
	group.Wait()
	pprof.StopCPUProfile()
}

// churn keeps channels, timers and the heap busy for a time; how many generations that
// is, GODEBUG=traceadvanceperiod says.
func churn(d time.Duration) {
	deadline := time.Now().Add(d)
	region := trace.StartRegion(context.Background(), "long")
	_, task := trace.NewTask(context.Background(), "long")
	var group sync.WaitGroup
	for i := 0; i < 3; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for time.Now().Before(deadline) {
				tree(8)
				time.Sleep(time.Millisecond)
			}
		}()
	}
	group.Wait()
	task.End()
	region.End()
}
