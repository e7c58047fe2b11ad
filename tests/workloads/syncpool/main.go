// Command syncpool models a time-series database that takes points over HTTP.
//
// The base build reads each request body into a fresh buffer, which stays
// alive until the batch is written out. The new build takes the buffers from a
// sync.Pool. It needs half the memory, so the collector's goal is half as far
// away, it runs about twice as often at the same cost, and throughput falls.
package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"time"

	"example.com/workloads/internal/capture"
	"example.com/workloads/syncpool/ingest"
	"example.com/workloads/syncpool/lineproto"
	"example.com/workloads/syncpool/tsdb"
)

const (
	writers  = 4
	shards   = 4
	waiting  = 800   // batches per shard
	hosts    = 24000 // each with fields series of its own
	senders  = 64    // distinct bodies
	lines    = 400   // points per body
	queryNth = 50    // requests per query
)

var fields = []string{"system", "user"}

func main() {
	capture.Main(setup)
}

func setup() (capture.Load, error) {
	random := rand.New(rand.NewSource(1))
	bodies := makeBodies(random)
	db := tsdb.Open(shards, waiting)
	if err := preload(db, random); err != nil {
		return capture.Load{}, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return capture.Load{}, err
	}
	go http.Serve(listener, ingest.New(db))

	client := &client{url: "http://" + listener.Addr().String(), bodies: bodies}
	return capture.Load{
		Unit:    "points",
		Workers: writers,
		Step:    client.step,
		Trace:   200 * time.Millisecond,
	}, nil
}

type client struct {
	url    string
	bodies [][]byte
	sent   [writers]int
}

func (c *client) step(worker int) (int, error) {
	n := c.sent[worker]
	c.sent[worker]++
	if n%queryNth == queryNth-1 {
		return 0, c.query(n)
	}
	body := c.bodies[(n*writers+worker)%len(c.bodies)]
	response, err := http.Post(c.url+"/write", "text/plain", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusNoContent {
		return 0, fmt.Errorf("write: %s", response.Status)
	}
	return lines, nil
}

func (c *client) query(n int) error {
	response, err := http.Get(fmt.Sprintf("%s/query?host=web-%05d", c.url, n%hosts))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// preload gives every shard the series of all past senders.
func preload(db *tsdb.DB, random *rand.Rand) error {
	for host := 0; host < hosts; host++ {
		source := []byte(fmt.Sprintf("agent-%03d/2.1", host))
		points, err := lineproto.Parse(appendLine(nil, host, random))
		if err != nil {
			return err
		}
		db.Shard(source).Write(source, points)
	}
	return nil
}

func makeBodies(random *rand.Rand) [][]byte {
	var bodies [][]byte
	for sender := 0; sender < senders; sender++ {
		body := []byte(fmt.Sprintf("agent-%03d/2.1\n", sender))
		for i := 0; i < lines; i++ {
			body = appendLine(body, random.Intn(hosts), random)
		}
		bodies = append(bodies, body)
	}
	return bodies
}

func appendLine(out []byte, host int, random *rand.Rand) []byte {
	line := fmt.Sprintf("cpu,host=web-%05d,region=eu-west-%d,rack=r%02d,service=checkout ",
		host, host%3, host%40)
	for i, field := range fields {
		if i > 0 {
			line += ","
		}
		line += fmt.Sprintf("%s=%.2f", field, 100*random.Float64())
	}
	line += fmt.Sprintf(" %d\n", 1690000000000000000+int64(random.Intn(1e9)))
	return append(out, line...)
}
