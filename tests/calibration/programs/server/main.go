// Command server answers a fixed number of HTTP requests of clients of its own, over
// loopback, and writes what the Go runtime tells about them.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"html/template"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Spins is how many rounds more relevance does for one line of ten; a planted build sets it with
// -ldflags "-X main.Spins=N".
var Spins = "0"

var spins, _ = strconv.Atoi(Spins)

const clients = 4

var page = template.Must(template.New("page").Parse(
	`<h1>{{.Query}}</h1><ol>{{range .Hits}}<li value="{{.Line}}">{{.Text}}</li>{{end}}</ol>`))

type hit struct {
	Line  int    `json:"line"`
	Text  string `json:"text"`
	Score uint32 `json:"score"`
}

type search struct {
	Query string `json:"query"`
	Hits  []hit  `json:"hits"`
}

type server struct {
	lines []string
	words []string
}

func main() {
	out := flag.String("out", ".", "folder that receives the files")
	requests := flag.Int64("requests", 1000, "how many are answered while profiled")
	flag.Parse()
	log.SetFlags(0)
	text, err := os.ReadFile(os.Getenv("CALIBRATION_INPUT"))
	check(err)
	s := &server{}
	for _, line := range strings.Split(string(text), "\n") {
		if len(line) > 30 {
			s.lines = append(s.lines, line)
			s.words = append(s.words, strings.Fields(line)[0])
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	mux := http.NewServeMux()
	mux.HandleFunc("/page", s.page)
	mux.HandleFunc("/search", s.search)
	mux.HandleFunc("/echo", echo)
	go http.Serve(listener, mux)
	url := "http://" + listener.Addr().String()

	s.load(url, *requests/20+clients) // connections are open, pools are filled
	file := create(*out, "cpu.pb.gz")
	begin := time.Now()
	check(pprof.StartCPUProfile(file))
	s.load(url, *requests)
	took := time.Since(begin)
	pprof.StopCPUProfile()
	check(file.Close())
	file = create(*out, "allocs.pb.gz")
	check(pprof.Lookup("allocs").WriteTo(file, 0))
	check(file.Close())
	fmt.Printf("goos: %s\ngoarch: %s\npkg: server\nBenchmarkRequests-%d\t%d\t%.1f ns/op\n",
		runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), *requests, float64(took.Nanoseconds())/float64(*requests))
}

// load has the clients send so many requests, each the next when one is answered.
func (s *server) load(url string, requests int64) {
	var sent atomic.Int64
	var done sync.WaitGroup
	for i := 0; i < clients; i++ {
		done.Add(1)
		go func() {
			defer done.Done()
			for n := sent.Add(1); n <= requests; n = sent.Add(1) {
				check(s.request(url, int(n)))
			}
		}()
	}
	done.Wait()
}

func (s *server) request(url string, n int) error {
	word := s.words[n*7%len(s.words)]
	var response *http.Response
	var err error
	switch n % 3 {
	case 0:
		response, err = http.Get(url + "/page?from=" + strconv.Itoa(n%len(s.lines)))
	case 1:
		response, err = http.Get(url + "/search?from=" + strconv.Itoa(n%len(s.lines)))
	default:
		hits := []hit{{n, s.lines[n%len(s.lines)], 1}, {n + 1, word, 2}}
		body, failed := json.Marshal(search{word, hits})
		if failed != nil {
			return failed
		}
		response, err = http.Post(url+"/echo", "application/json", bytes.NewReader(body))
	}
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s", response.Status)
	}
	return nil
}

func (s *server) hits(r *http.Request) search {
	from, _ := strconv.Atoi(r.FormValue("from"))
	word := s.words[from%len(s.words)]
	return search{word, s.best(word, from)}
}

// best are the ten best of a hundred lines.
func (s *server) best(word string, from int) []hit {
	var best []hit
	for i := 0; i < 100; i++ {
		at := (from + i) % len(s.lines)
		score := relevance(s.lines[at], word, at)
		if len(best) < 10 {
			best = append(best, hit{at, s.lines[at], score})
		} else if score > best[9].Score {
			best[9] = hit{at, s.lines[at], score}
			for k := 9; k > 0 && best[k].Score > best[k-1].Score; k-- {
				best[k], best[k-1] = best[k-1], best[k]
			}
		}
	}
	return best
}

// relevance counts the letters of a line that are a word's, in their order.
//
//go:noinline
func relevance(line, word string, number int) uint32 {
	score, at := uint32(0), 0
	for i := 0; i < len(line); i++ {
		if line[i] == word[at] {
			score++
			if at++; at == len(word) {
				at = 0
			}
		}
	}
	sum := score
	// One long chain costs what it takes; behind a short one at every call, the CPU does
	// other work meanwhile.
	if number%10 == 0 {
		for i := 0; i < spins; i++ {
			sum = (sum ^ uint32(i)) * 16777619
		}
	}
	if sum == 1<<31 {
		score++ // the rounds are not for nothing
	}
	return score
}

func (s *server) page(w http.ResponseWriter, r *http.Request) {
	if err := page.Execute(w, s.hits(r)); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (s *server) search(w http.ResponseWriter, r *http.Request) {
	json.NewEncoder(w).Encode(s.hits(r))
}

func echo(w http.ResponseWriter, r *http.Request) {
	var asked search
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	json.NewEncoder(w).Encode(asked)
}

func create(dir, name string) *os.File {
	file, err := os.Create(filepath.Join(dir, name))
	check(err)
	return file
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
