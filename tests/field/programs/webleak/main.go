// Command webleak is a go-chi server that keeps a record of each request while
// it is served, and its clients on loopback.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/field/capture"
	"github.com/go-chi/chi/v5"
)

type record struct {
	id    string
	agent string
	path  []string
	begun time.Time
	notes [96]byte
}

type register struct {
	mu     sync.Mutex
	active map[string]*record
	next   atomic.Int64
}

func (g *register) enter(r *http.Request) string {
	id := fmt.Sprintf("request-%09d", g.next.Add(1))
	entry := &record{id: id, agent: r.UserAgent(), path: strings.Split(r.URL.Path, "/"), begun: time.Now()}
	g.mu.Lock()
	g.active[id] = entry
	g.mu.Unlock()
	return id
}

func (g *register) watched(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := g.enter(r)
		next.ServeHTTP(w, r)
		g.leave(id)
	})
}

func setup() (capture.Load, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return capture.Load{}, err
	}
	active := &register{active: map[string]*record{}}
	r := chi.NewRouter()
	r.Use(active.watched)
	r.Get("/users/{user}/posts/{post}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "user %s, post %s: %s", chi.URLParam(r, "user"), chi.URLParam(r, "post"), strings.Repeat("text ", 100))
	})
	go http.Serve(listener, r)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	return capture.Load{Workers: 8, Step: func(worker int) error {
		answer, err := client.Get(fmt.Sprintf("http://%s/users/%d/posts/12", listener.Addr(), worker))
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		_, err = io.Copy(io.Discard, answer.Body)
		return err
	}}, nil
}

func main() { capture.Main(setup) }
