// Errands does four kinds of work side by side, each a user task, or with -regions a
// user region where one goroutine does it all, and writes an execution trace.
//
// With -new, "quote" waits 2 ms under the lock of all quotes, "report" hashes eight
// times as much, and "ship", which a worker does for the goroutine that begins and ends
// no task of its own, waits for an answer that comes after 3 ms. "stock" stays as it is.
package main

import (
	"context"
	"crypto/sha256"
	"flag"
	"log"
	"os"
	"runtime/trace"
	"sync"
	"time"
)

var (
	planted  = flag.Bool("new", false, "with the planted changes")
	regions  = flag.Bool("regions", false, "trace regions instead of tasks")
	quotes   sync.Mutex
	parcels  = make(chan parcel)
	accepted = make(chan struct{})
)

type parcel struct {
	ctx  context.Context
	task *trace.Task
}

func hash(rounds int) (sum [32]byte) {
	for ; rounds > 0; rounds-- {
		sum = sha256.Sum256(sum[:])
	}
	return sum
}

func quote() {
	quotes.Lock()
	defer quotes.Unlock()
	if *planted {
		time.Sleep(2 * time.Millisecond)
	}
	hash(200)
}

func report() {
	if *planted {
		hash(7 * 2000)
	}
	hash(2000)
}

func stock() { hash(1000) }

// accept answers what ship asks.
func accept() {
	for {
		if *planted {
			time.Sleep(3 * time.Millisecond)
		}
		accepted <- struct{}{}
	}
}

// ship is done by workers: tasks begin on one goroutine and end on another.
func ship() {
	for one := range parcels {
		trace.WithRegion(one.ctx, "deliver", func() {
			<-accepted
			hash(300)
		})
		if one.task != nil {
			one.task.End()
		}
	}
}

func do(name string, work func()) {
	if *regions {
		trace.WithRegion(context.Background(), name, work)
		return
	}
	_, task := trace.NewTask(context.Background(), name)
	defer task.End()
	work()
}

func main() {
	out := flag.String("o", "errands.trace", "where the trace goes")
	flag.Parse()
	file, err := os.Create(*out)
	if err != nil {
		log.Fatal(err)
	}
	go accept()
	for i := 0; i < 2; i++ {
		go ship()
	}
	if err := trace.Start(file); err != nil {
		log.Fatal(err)
	}
	end := time.Now().Add(200 * time.Millisecond)
	var all sync.WaitGroup
	all.Add(3)
	for i := 0; i < 3; i++ {
		go func() {
			defer all.Done()
			for time.Now().Before(end) {
				do("quote", quote)
				do("report", report)
				do("stock", stock)
				if !*regions {
					ctx, task := trace.NewTask(context.Background(), "ship")
					parcels <- parcel{ctx, task}
				}
			}
		}()
	}
	all.Wait()
	trace.Stop()
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}
}
