// Command offcpu does one operation over and over for a moment, traces itself,
// and prints how many operations a second it did.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"runtime/trace"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

type store struct {
	mu   sync.Mutex
	rw   sync.RWMutex
	file *os.File
	conn net.Conn
	jobs chan int
}

func spend(n int) (sum int) {
	for i := 0; i < n; i++ {
		sum += i * i
	}
	return sum
}

//go:noinline
func (s *store) save(synced bool) {
	if _, err := s.file.WriteAt([]byte("state"), 0); err != nil {
		log.Fatal(err)
	}
	spend(50_000)
	if synced {
		if err := s.file.Sync(); err != nil {
			log.Fatal(err)
		}
	}
}

//go:noinline
func (s *store) lookup(shared bool) int {
	if shared {
		s.rw.RLock()
		defer s.rw.RUnlock()
		return spend(100_000)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return spend(100_000)
}

//go:noinline
func (s *store) ask() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.conn.Write([]byte{1}); err != nil {
		log.Fatal(err)
	}
	if _, err := io.ReadFull(s.conn, make([]byte, 1)); err != nil {
		log.Fatal(err)
	}
}

//go:noinline
func (s *store) limit() {
	timer := time.NewTimer(5 * time.Millisecond)
	select {
	case <-timer.C:
	case <-s.jobs:
	}
}

//go:noinline
func answer(done *sync.WaitGroup) { done.Done() }

//go:noinline
func part(done *sync.WaitGroup) { done.Done() }

// request begins one goroutine to answer, and some that have a part each.
//
//go:noinline
func (s *store) request(parts int) {
	var done sync.WaitGroup
	done.Add(1 + parts)
	go answer(&done)
	s.divide(parts, &done)
	done.Wait()
}

//go:noinline
func (s *store) divide(parts int, done *sync.WaitGroup) {
	for i := 0; i < parts; i++ {
		go part(done)
	}
}

// serve answers each byte, like a server whose clients it has to wait for.
func serve(listener net.Listener) {
	conn, err := listener.Accept()
	if err != nil {
		log.Fatal(err)
	}
	for buffer := make([]byte, 1); ; {
		if _, err := conn.Read(buffer); err != nil {
			return
		}
		time.Sleep(time.Millisecond)
		if _, err := conn.Write(buffer); err != nil {
			return
		}
	}
}

//go:noinline
func (s *store) hold() {
	s.mu.Lock()
	time.Sleep(time.Millisecond)
	s.mu.Unlock()
}

// attend answers each byte of one client; if held, one client after the other.
func (s *store) attend(conn net.Conn, held bool) {
	for buffer := make([]byte, 1); ; {
		if _, err := conn.Read(buffer); err != nil {
			return
		}
		if held {
			s.hold()
		}
		if _, err := conn.Write(buffer); err != nil {
			return
		}
	}
}

//go:noinline
func call(conn net.Conn) {
	buffer := make([]byte, 1)
	if _, err := conn.Write(buffer); err != nil {
		log.Fatal(err)
	}
	if _, err := conn.Read(buffer); err != nil {
		log.Fatal(err)
	}
	time.Sleep(4 * time.Millisecond)
}

// pool waits for jobs, most of the time for none.
func (s *store) pool() {
	for n := range s.jobs {
		spend(n)
	}
}

func main() {
	kind, workers := os.Args[1], 4
	s := &store{jobs: make(chan int)}
	var step func()
	switch kind {
	case "synced", "unsynced":
		file, err := os.CreateTemp("", "offcpu")
		if err != nil {
			log.Fatal(err)
		}
		defer os.Remove(file.Name())
		s.file = file
		step = func() { s.save(kind == "synced") }
	case "locked", "shared":
		// So many and so long that most of them wait, on a busy machine too.
		step, workers = func() { s.lookup(kind == "shared"); spend(5_000) }, 16
	case "asked", "limited":
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			log.Fatal(err)
		}
		go serve(listener)
		if s.conn, err = net.Dial("tcp", listener.Addr().String()); err != nil {
			log.Fatal(err)
		}
		step, workers = func() { s.ask(); spend(50_000) }, 1
		if kind == "limited" {
			step = func() { s.limit(); s.ask(); spend(50_000) }
		}
	case "attended", "held":
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			log.Fatal(err)
		}
		workers = 8
		conns := make(chan net.Conn, workers)
		for i := 0; i < workers; i++ {
			client, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				log.Fatal(err)
			}
			server, err := listener.Accept()
			if err != nil {
				log.Fatal(err)
			}
			go s.attend(server, kind == "held")
			conns <- client
		}
		step = func() { conn := <-conns; call(conn); conns <- conn }
	case "parts1", "parts8":
		parts := int(kind[5] - '0')
		step, workers = func() { s.request(parts); time.Sleep(time.Millisecond) }, 1
	case "alone":
		step, workers = func() { spend(50_000) }, 1
	default:
		pause, err := strconv.Atoi(kind)
		if err != nil {
			log.Fatal(err)
		}
		for i := 0; i < 20; i++ {
			go s.pool()
		}
		workers = 1
		step = func() { s.jobs <- 10_000; time.Sleep(time.Duration(pause) * time.Microsecond) }
	}
	var done atomic.Int64
	for i := 0; i < workers; i++ {
		go func() {
			for {
				step()
				done.Add(1)
			}
		}()
	}
	time.Sleep(50 * time.Millisecond)
	out, err := os.Create(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	begin, before := time.Now(), done.Load()
	if err := trace.Start(out); err != nil {
		log.Fatal(err)
	}
	time.Sleep(1050 * time.Millisecond)
	trace.Stop()
	fmt.Println(float64(done.Load()-before) / time.Since(begin).Seconds())
}
