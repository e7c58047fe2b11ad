// Command leaks leaks a goroutine for each way to wait, and writes its
// goroutineleak profile, and as text with why each waits.
package main

import (
	"log"
	"os"
	"path/filepath"
	"runtime/pprof"
	"sync"
	"time"
)

type cache struct {
	mu sync.Mutex
	rw sync.RWMutex
}

func (c *cache) get() {
	c.mu.Lock()
	defer c.mu.Unlock()
}

func (c *cache) read() {
	c.rw.RLock()
	defer c.rw.RUnlock()
}

func receive(c chan int) { <-c }

func drain(c chan int) {
	for range c {
	}
}

func either(a, b chan int) {
	select {
	case <-a:
	case b <- 1:
	}
}

// One goroutine waits at the first send, two at the second.
func two(c chan int, first bool) {
	if first {
		c <- 1
	}
	c <- 2
}

func wait(w *sync.WaitGroup) { w.Wait() }

func stay() { select {} }

func signalled(c *sync.Cond) {
	c.L.Lock()
	c.Wait()
}

func start() {
	c := &cache{}
	c.mu.Lock()
	go c.get()
	c.rw.Lock()
	go c.read()
	go receive(make(chan int))
	go drain(make(chan int))
	go either(make(chan int), make(chan int))
	go two(make(chan int), true)
	go two(make(chan int), false)
	go two(make(chan int), false)
	pending := &sync.WaitGroup{}
	pending.Add(1)
	go wait(pending)
	go signalled(sync.NewCond(&sync.Mutex{}))
	go stay()
	var group sync.WaitGroup
	group.Go(func() { make(chan int) <- 1 })
	go sendNil(nil)
	go receiveNil(nil)
}

func sendNil(c chan int) { c <- 1 }

func receiveNil(c chan int) { <-c }

func main() {
	start()
	time.Sleep(200 * time.Millisecond)
	for name, debug := range map[string]int{"goroutineleak.pb.gz": 0, "goroutineleak.txt": 2} {
		file, err := os.Create(filepath.Join(os.Args[1], name))
		if err != nil {
			log.Fatal(err)
		}
		if err := pprof.Lookup("goroutineleak").WriteTo(file, debug); err != nil {
			log.Fatal(err)
		}
		if err := file.Close(); err != nil {
			log.Fatal(err)
		}
	}
}
