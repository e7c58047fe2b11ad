// Command quotes is a server that asks a carrier for a fare and gives up on
// slow ones, and its clients on loopback.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"example.com/field/capture"
)

const patience = 2 * time.Millisecond

type carrier struct {
	name string
	slow bool
}

func (c *carrier) look(weight int) int {
	if c.slow {
		time.Sleep(2 * patience)
	}
	return len(c.name) + 3*weight
}

func (c *carrier) answer(weight int, fares chan<- int) {
	fares <- c.look(weight)
}

func fare(ctx context.Context, c *carrier, weight int) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	fares := make(chan int, room)
	go c.answer(weight, fares)
	select {
	case found := <-fares:
		return found, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func setup() (capture.Load, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return capture.Load{}, err
	}
	carriers := []*carrier{{name: "north"}, {name: "south", slow: true}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /fares/{parcel}", func(w http.ResponseWriter, r *http.Request) {
		for weight, c := range carriers {
			if found, err := fare(r.Context(), c, weight); err == nil {
				fmt.Fprintln(w, c.name, found)
			}
		}
	})
	go http.Serve(listener, mux)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	return capture.Load{Workers: 8, Step: func(worker int) error {
		answer, err := client.Get(fmt.Sprintf("http://%s/fares/%d", listener.Addr(), worker))
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		_, err = io.Copy(io.Discard, answer.Body)
		return err
	}}, nil
}

func main() { capture.Main(setup) }
