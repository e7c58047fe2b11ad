// Command program does a little of everything that an execution trace shows, and writes
// one to its first argument: a flight recording if it was built with the tag flight.
package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"time"
)

var kept [256][]byte

func pingPong(rounds int) {
	there, back := make(chan int), make(chan int)
	go func() {
		for v := range there {
			back <- v
		}
	}()
	for i := range rounds {
		there <- i
		<-back
	}
	close(there)
}

func garbage(until time.Time) {
	for i := 0; time.Now().Before(until); i++ {
		kept[i%len(kept)] = make([]byte, 1024+i%30000)
	}
}

func systemCalls(rounds int) {
	file, err := os.CreateTemp("", "trace")
	if err != nil {
		panic(err)
	}
	defer os.Remove(file.Name())
	for i := range rounds {
		file.Write([]byte("something"))
		if i%20 == 0 {
			file.Sync()
		}
	}
}

func annotated(rounds int) {
	for i := range rounds {
		ctx, task := trace.NewTask(context.Background(), "job")
		trace.Log(ctx, "step", "value \"one\"")
		trace.WithRegion(ctx, "outer", func() {
			defer trace.StartRegion(ctx, "inner").End()
			time.Sleep(50 * time.Microsecond)
			done := make(chan bool)
			go trace.WithRegion(ctx, "child", func() { runtime.Gosched(); close(done) })
			<-done
		})
		if i%3 > 0 {
			task.End()
		}
	}
}

// echo answers over loopback, in connections of their own: no net/http, which takes
// longer to build than all else.
func echo(rounds int) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer listener.Close()
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				io.Copy(client, client)
				client.Close()
			}()
		}
	}()
	for range rounds {
		server, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			panic(err)
		}
		server.Write(make([]byte, 500))
		server.(*net.TCPConn).CloseWrite()
		io.Copy(io.Discard, server)
		server.Close()
	}
}

func spin(until time.Time) {
	for time.Now().Before(until) {
	}
}

const length = 150 * time.Millisecond

func main() {
	go func() { select {} }()
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	stop := start(file)
	defer stop()
	var profile bytes.Buffer
	pprof.StartCPUProfile(&profile)
	defer pprof.StopCPUProfile()
	until := time.Now().Add(length)
	var all sync.WaitGroup
	for _, work := range []func(){
		func() { pingPong(500) },
		func() { garbage(until) },
		func() { systemCalls(200) },
		func() { annotated(30) },
		func() { echo(30) },
		func() { coroutines(300) },
		func() { spin(until) },
		func() { spin(until) },
	} {
		all.Add(1)
		go func() { defer all.Done(); work() }()
	}
	for _, procs := range []int{4, 1, 3} {
		time.Sleep(length / 5)
		runtime.GOMAXPROCS(procs)
	}
	all.Wait()
	runtime.GC()
}
