// Package checker asks many targets at once whether they are well.
package checker

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"time"

	"example.com/workloads/health-check/debuglog"
	"example.com/workloads/health-check/target"
	"example.com/workloads/internal/capture"
)

const (
	timeout = 2 * time.Second
	history = 64 // results kept per target
)

// Target is one thing to check.
type Target struct {
	Name   string            `json:"name"`
	Addr   string            `json:"addr"`
	Labels map[string]string `json:"labels"`

	mu      sync.Mutex
	results []*Result
}

// Result is what a check found out.
type Result struct {
	Begin  time.Time
	Took   time.Duration
	Status *target.Status
}

// Checker checks a list of targets.
type Checker struct {
	Targets []*Target
	Log     *debuglog.Logger
	Latency *capture.Histogram
	dialer  net.Dialer
}

// Round checks every target once, all at the same time.
func (c *Checker) Round(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	failures := make(chan error, len(c.Targets))
	var wait sync.WaitGroup
	for _, t := range c.Targets {
		wait.Add(1)
		go func(t *Target) {
			defer wait.Done()
			if err := c.check(ctx, t); err != nil {
				failures <- fmt.Errorf("%s: %w", t.Name, err)
			}
		}(t)
	}
	wait.Wait()
	close(failures)
	return <-failures
}

func (c *Checker) check(ctx context.Context, t *Target) error {
	begin := time.Now()
	c.Log.Debug("check begins", debuglog.Fields{"target": t})
	conn, err := c.dialer.DialContext(ctx, "tcp", t.Addr)
	if err != nil {
		return err
	}
	defer hangUp(conn)
	c.Log.Debug("connected", debuglog.Fields{
		"target": t, "local": conn.LocalAddr().String(), "after": time.Since(begin),
	})
	status, err := ask(ctx, conn, t.Name)
	if err != nil {
		return err
	}
	took := time.Since(begin)
	c.Latency.Observe(took)
	c.Log.Debug("check ends", debuglog.Fields{"target": t, "status": status, "took": took})
	c.Log.Count("checks_total", t.Labels)
	t.add(&Result{Begin: begin, Took: took, Status: status})
	return nil
}

func ask(ctx context.Context, conn net.Conn, name string) (*target.Status, error) {
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(conn, "CHECK %s\n", name); err != nil {
		return nil, err
	}
	line, err := bufio.NewReaderSize(conn, 512).ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	status := new(target.Status)
	return status, json.Unmarshal(line, status)
}

// hangUp resets the connection, so that its port is free again at once.
func hangUp(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	conn.Close()
}

func (t *Target) add(r *Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.results) == history {
		copy(t.results, t.results[1:])
		t.results = t.results[:history-1]
	}
	t.results = append(t.results, r)
}
