// Growth serves requests to itself over loopback and writes heap and goroutine
// profiles while it does. With -leak it forgets to let go of sessions or of goroutines.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/pprof"
	"sync"
	"time"
)

type session struct {
	ID      int
	User    string
	Payload []byte
}

type server struct {
	mu       sync.Mutex
	sessions map[int]*session
	next     int
	leak     string
	catalog  []string
}

// open makes the session of one request.
func (s *server) open(user string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	made := &session{ID: s.next, User: user, Payload: make([]byte, 8192)}
	s.sessions[made.ID] = made
	return made
}

func (s *server) close(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, one.ID)
}

// audit waits for a request to be acknowledged.
func (s *server) audit(done <-chan struct{}) {
	<-done
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	one := s.open(r.URL.Query().Get("user"))
	if s.leak != "heap" {
		defer s.close(one)
	}
	done := make(chan struct{})
	go s.audit(done)
	if s.leak != "goroutines" {
		defer close(done)
	}
	text, err := json.Marshal(one)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(text)
}

// catalog makes what the server holds whatever it is asked.
func catalog() []string {
	entries := make([]string, 20000)
	for i := range entries {
		entries[i] = fmt.Sprintf("entry %d %0200d", i, i)
	}
	return entries
}

// client asks again and again, and tells each time that it was answered.
func client(address string, pause time.Duration, answered chan<- struct{}) {
	for i := 0; ; i++ {
		answer, err := http.Get(fmt.Sprintf("http://%s/?user=u%d", address, i))
		if err != nil {
			log.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		answered <- struct{}{}
		time.Sleep(pause)
	}
}

func main() {
	leak := flag.String("leak", "none", "none, heap or goroutines")
	out := flag.String("out", ".", "folder that receives the profiles")
	clients := flag.Int("clients", 4, "requests at once")
	pause := flag.Duration("pause", 200*time.Microsecond, "between a client's requests")
	requests := flag.Int("requests", 5000, "answered before the profiles are written")
	flag.Parse()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	serving := &server{sessions: map[int]*session{}, leak: *leak, catalog: catalog()}
	go func() { log.Fatal(http.Serve(listener, serving)) }()
	answered := make(chan struct{})
	for i := 0; i < *clients; i++ {
		go client(listener.Addr().String(), *pause, answered)
	}
	for i := 0; i < *requests; i++ {
		<-answered
	}
	go func() {
		for range answered {
		}
	}()
	for _, name := range []string{"heap", "goroutine", "allocs"} {
		file, err := os.Create(filepath.Join(*out, name+".pb.gz"))
		if err != nil {
			log.Fatal(err)
		}
		if err := pprof.Lookup(name).WriteTo(file, 0); err != nil {
			log.Fatal(err)
		}
		file.Close()
	}
}
