package main

import (
	"context"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/trace"
	"strconv"
	"sync"
)

func init() { situations["big"] = situation{during: big} }

// big does as many rounds of work as BIG_ROUNDS says; a round leaves some hundred events,
// of channels, short goroutines, system calls, loopback connections, tasks, regions and
// the heap.
func big() {
	rounds, err := strconv.Atoi(os.Getenv("BIG_ROUNDS"))
	check(err)
	runtime.GOMAXPROCS(8)
	debug.SetGCPercent(50)
	kept = append(kept, tree(14))
	var group sync.WaitGroup
	for i := 0; i < 4; i++ {
		group.Add(3)
		requests, answers := make(chan int), make(chan int)
		go func() { worker(requests, answers); group.Done() }()
		go func() { driver(requests, answers, rounds/4); group.Done() }()
		go func() { echo(rounds / 4); group.Done() }()
	}
	group.Wait()
}

func worker(requests, answers chan int) {
	for n := range requests {
		answers <- n
	}
}

func driver(requests, answers chan int, rounds int) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	check(err)
	line := []byte("one line of a log")
	var group sync.WaitGroup
	for i := 0; i < rounds; i++ {
		for j := 0; j < 6; j++ {
			requests <- j
			<-answers
			null.Write(line)
			null.Write(line)
			null.Write(line)
		}
		group.Add(6)
		for j := 0; j < 6; j++ {
			go group.Done()
		}
		group.Wait()
		if i%10 == 0 {
			ctx, task := trace.NewTask(context.Background(), "round")
			trace.WithRegion(ctx, "grow", func() { tree(6) })
			short := make(chan bool)
			go func() { trace.Log(ctx, "number", strconv.Itoa(i)); close(short) }()
			<-short
			task.End()
		}
	}
	close(requests)
}

func echo(rounds int) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go func() {
		c, err := listener.Accept()
		check(err)
		buffer := make([]byte, 64)
		for i := 0; i < rounds; i++ {
			c.Read(buffer)
			c.Write(buffer)
		}
		c.Close()
	}()
	c, err := net.Dial("tcp", listener.Addr().String())
	check(err)
	buffer := make([]byte, 64)
	for i := 0; i < rounds; i++ {
		c.Write(buffer)
		c.Read(buffer)
	}
	c.Close()
	listener.Close()
}
