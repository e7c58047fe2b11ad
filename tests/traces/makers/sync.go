package main

import (
	"runtime"
	"sync"
	"time"
)

func init() { situations["sync"] = situation{during: synchronize} }

// synchronize blocks goroutines in every way that package sync and channels know.
func synchronize() {
	runtime.GOMAXPROCS(4)
	go func() { select {} }()
	var forever chan bool
	go func() { <-forever }()
	var group sync.WaitGroup
	start := func(f func()) {
		group.Add(1)
		go func() {
			defer group.Done()
			f()
		}()
	}
	ping, pong := make(chan int), make(chan int)
	start(func() { pingPong(ping, pong) })
	start(func() { pongPing(ping, pong) })
	contend(start)
	selectAll(start)
	start(func() { waitForCond(start) })
	start(func() {
		for i := 0; i < 20; i++ {
			time.Sleep(100 * time.Microsecond)
		}
	})
	start(func() {
		for i := 0; i < 50; i++ {
			runtime.Gosched()
		}
	})
	group.Wait()
}

func pingPong(ping, pong chan int) {
	for i := 0; i < 500; i++ {
		ping <- i
		<-pong
	}
	close(ping)
}

func pongPing(ping, pong chan int) {
	for i := range ping {
		pong <- i
	}
}

// contend has a mutex held through a sleep, so that the others do block.
func contend(start func(func())) {
	var mutex sync.Mutex
	var shared sync.RWMutex
	for i := 0; i < 4; i++ {
		start(func() {
			for j := 0; j < 5; j++ {
				mutex.Lock()
				time.Sleep(200 * time.Microsecond)
				mutex.Unlock()
				shared.RLock()
				shared.RUnlock()
				shared.Lock()
				shared.Unlock()
			}
		})
	}
}

func selectAll(start func(func())) {
	a, b, quit := make(chan int), make(chan int), make(chan bool)
	start(func() {
		for {
			select {
			case <-a:
			case <-b:
			case <-quit:
				return
			}
		}
	})
	start(func() {
		for i := 0; i < 50; i++ {
			a <- i
			time.Sleep(10 * time.Microsecond)
			b <- i
		}
		close(quit)
	})
}

func waitForCond(start func(func())) {
	var mutex sync.Mutex
	cond := sync.NewCond(&mutex)
	waiting, ready := 0, false
	for i := 0; i < 3; i++ {
		start(func() {
			mutex.Lock()
			waiting++
			for !ready {
				cond.Wait()
			}
			mutex.Unlock()
		})
	}
	for {
		mutex.Lock()
		ready = waiting == 3
		mutex.Unlock()
		if ready {
			break
		}
		time.Sleep(100 * time.Microsecond)
	}
	cond.Broadcast()
}
