package main

import (
	"io/ioutil"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

func init() {
	situations["files"] = situation{during: files}
	situations["procs"] = situation{during: procs}
}

// files writes, syncs and reads files, and blocks in read(2) on a pipe that the poller
// does not know until another P has taken over.
func files() {
	folder, err := ioutil.TempDir("", "makers")
	check(err)
	defer os.RemoveAll(folder)
	var group sync.WaitGroup
	for i := 0; i < 3; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			writeAndRead(folder)
		}()
	}
	var ends [2]int
	check(syscall.Pipe(ends[:]))
	group.Add(1)
	go func() {
		defer group.Done()
		buffer := make([]byte, 1)
		for i := 0; i < 5; i++ {
			syscall.Read(ends[0], buffer)
		}
	}()
	for i := 0; i < 5; i++ {
		time.Sleep(3 * time.Millisecond)
		spin(2 * time.Millisecond)
		syscall.Write(ends[1], []byte{1})
	}
	group.Wait()
	polled()
}

func writeAndRead(folder string) {
	for i := 0; i < 5; i++ {
		file, err := ioutil.TempFile(folder, "")
		check(err)
		_, err = file.Write(make([]byte, 100000))
		check(err)
		check(file.Sync())
		check(file.Close())
		_, err = ioutil.ReadFile(file.Name())
		check(err)
	}
}

// polled reads a pipe that the poller knows: that blocks the goroutine, not a thread.
func polled() {
	r, w, err := os.Pipe()
	check(err)
	go func() {
		for i := 0; i < 3; i++ {
			time.Sleep(time.Millisecond)
			w.Write([]byte{1})
		}
		w.Close()
	}()
	_, err = ioutil.ReadAll(r)
	check(err)
}

func spin(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
	}
}

// procs changes GOMAXPROCS while goroutines are busy.
func procs() {
	var group sync.WaitGroup
	for i := 0; i < 6; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for j := 0; j < 20; j++ {
				spin(300 * time.Microsecond)
				runtime.Gosched()
			}
		}()
	}
	for _, n := range []int{1, 4, 2, 3} {
		runtime.GOMAXPROCS(n)
		time.Sleep(3 * time.Millisecond)
	}
	group.Wait()
}
