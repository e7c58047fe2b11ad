// Edge takes requests off the quotas of tenants, which it fills up from a ledger over HTTP.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"example.com/field/capture"
	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"
)

// quotas are kept apart by tenant, in as many parts as there are locks.
type quotas struct {
	parts  []part
	ledger *fasthttp.Client
}

type part struct {
	mu   sync.Mutex
	left map[int]int
	_    [64]byte
}

// take takes a request off a tenant's quota; an empty one is filled up first.
func (q *quotas) take(tenant int) (int, error) {
	p := &q.parts[tenant%len(q.parts)]
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left[tenant] == 0 {
		status, body, err := q.ledger.Get(nil, fmt.Sprintf("http://ledger/?tenant=%d", tenant))
		if err != nil || status != fasthttp.StatusOK {
			return 0, fmt.Errorf("the ledger answered %d: %v", status, err)
		}
		if p.left[tenant], err = strconv.Atoi(string(body)); err != nil {
			return 0, err
		}
	}
	p.left[tenant]--
	return p.left[tenant], nil
}

type answer struct {
	Tenant int      `json:"tenant"`
	Left   int      `json:"left"`
	Scopes []string `json:"scopes"`
}

func (q *quotas) serve(ctx *fasthttp.RequestCtx) {
	tenant, err := strconv.Atoi(string(ctx.QueryArgs().Peek("tenant")))
	if err != nil {
		ctx.Error(err.Error(), fasthttp.StatusBadRequest)
		return
	}
	left, err := q.take(tenant)
	if err != nil {
		ctx.Error(err.Error(), fasthttp.StatusBadGateway)
		return
	}
	json.NewEncoder(ctx).Encode(answer{tenant, left, []string{"read", "write"}})
}

// grant is the ledger, which answers half a millisecond later.
func grant(ctx *fasthttp.RequestCtx) {
	time.Sleep(500 * time.Microsecond)
	ctx.SetBodyString("64")
}

// start serves a handler in this process and returns a client of it.
func start(handler fasthttp.RequestHandler) *fasthttp.Client {
	listener := fasthttputil.NewInmemoryListener()
	go (&fasthttp.Server{Handler: handler}).Serve(listener)
	return &fasthttp.Client{Dial: func(string) (net.Conn, error) { return listener.Dial() }}
}

var shards = flag.Int("shards", 32, "locks over the quotas")

func main() {
	capture.Main(func() (capture.Load, error) {
		q := &quotas{parts: make([]part, *shards), ledger: start(grant)}
		for i := range q.parts {
			q.parts[i].left = map[int]int{}
		}
		client := start(q.serve)
		turn := make([]int, 8)
		return capture.Load{Workers: len(turn), Step: func(worker int) error {
			turn[worker]++
			tenant := turn[worker]*len(turn)*7%4096 + worker
			status, body, err := client.Get(nil, fmt.Sprintf("http://edge/?tenant=%d", tenant))
			if err == nil && (status != fasthttp.StatusOK || len(body) < 40) {
				err = fmt.Errorf("%d: %s", status, body)
			}
			return err
		}}, nil
	})
}
