package main

import (
	"context"
	"runtime/trace"
	"sync"
	"time"
)

var outer struct {
	ctx  context.Context
	task *trace.Task
}

func init() {
	situations["tasks"] = situation{during: tasks}
}

// tasks nests tasks and regions, in one goroutine and across; some have no end.
func tasks() {
	background := context.Background()
	var group sync.WaitGroup
	for i := 0; i < 5; i++ {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			ctx, task := trace.NewTask(background, "order")
			trace.Logf(ctx, "number", "%d", i)
			order(ctx)
			task.End()
		}(i)
	}
	group.Wait()
	_, open := trace.NewTask(background, "never ended")
	_ = open
	handed := make(chan *trace.Task)
	go func() { (<-handed).End() }()
	_, task := trace.NewTask(background, "ended elsewhere")
	handed <- task
	trace.WithRegion(background, "no task", func() { time.Sleep(time.Millisecond) })
	trace.Log(background, "", "é世 \x00\xff")
	gone := make(chan bool)
	go func() {
		trace.StartRegion(background, "never ended")
		close(gone)
	}()
	<-gone
	time.Sleep(time.Millisecond)
}

func order(ctx context.Context) {
	defer trace.StartRegion(ctx, "whole order").End()
	trace.WithRegion(ctx, "check", func() {
		trace.WithRegion(ctx, "stock", func() { spin(200 * time.Microsecond) })
		trace.WithRegion(ctx, "price", func() { time.Sleep(200 * time.Microsecond) })
	})
	done := make(chan bool)
	go func() {
		sub, task := trace.NewTask(ctx, "mail")
		trace.WithRegion(sub, "send", func() { time.Sleep(300 * time.Microsecond) })
		trace.Log(sub, "state", "sent")
		task.End()
		close(done)
	}()
	<-done
}
