// Command requests serves pages, searches and JSON over HTTP, to clients of its own.
//
// One build of it is run many times, to see how much unchanged code differs from run to
// run where most of it waits for the network. -extra search makes one of its functions
// do 10 % more.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"math/rand"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/workloads/internal/capture"
)

const (
	clients = 4
	texts   = 400
	passes  = 10 // of a search over the texts; 11 with -extra
)

var extra = flag.String("extra", "", "function that does 10 % more: search")

type server struct {
	texts  []string
	passes int
}

type order struct {
	Customer string    `json:"customer"`
	Lines    []item    `json:"lines"`
	Placed   time.Time `json:"placed"`
}

type item struct {
	Name  string  `json:"name"`
	Count int     `json:"count"`
	Price float64 `json:"price"`
}

func main() {
	capture.Main(setup)
}

func setup() (capture.Load, error) {
	s := &server{passes: passes}
	switch *extra {
	case "":
	case "search":
		s.passes++
	default:
		return capture.Load{}, errors.New("-extra is search")
	}
	random := rand.New(rand.NewSource(1))
	for i := 0; i < texts; i++ {
		letters := make([]byte, 60+random.Intn(60))
		for k := range letters {
			letters[k] = "etaoinshrdlu <&"[random.Intn(15)]
		}
		s.texts = append(s.texts, string(letters))
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/page", s.page)
	mux.HandleFunc("/search", s.search)
	mux.HandleFunc("/order", s.order)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return capture.Load{}, err
	}
	go http.Serve(listener, mux)

	c := &client{url: "http://" + listener.Addr().String()}
	for i := 0; i < 30; i++ {
		c.order.Lines = append(c.order.Lines, item{s.texts[i][:20], i, float64(i) * 1.25})
	}
	c.order.Placed = time.Unix(1690000000, 0).UTC()
	return capture.Load{
		Unit:    "requests",
		Workers: clients,
		Step:    c.step,
		Trace:   10 * time.Millisecond,
	}, nil
}

type client struct {
	url   string
	order order
	sent  [clients]int
}

func (c *client) step(worker int) (int, error) {
	n := c.sent[worker]
	c.sent[worker]++
	var response *http.Response
	var err error
	switch n % 3 {
	case 0:
		response, err = http.Get(c.url + "/page?from=" + strconv.Itoa(n%texts))
	case 1:
		response, err = http.Get(c.url + "/search?for=she")
	default:
		body, failed := json.Marshal(c.order)
		if failed != nil {
			return 0, failed
		}
		response, err = http.Post(c.url+"/order", "application/json", bytes.NewReader(body))
	}
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if _, err = io.Copy(io.Discard, response.Body); err != nil {
		return 0, err
	}
	if response.StatusCode != http.StatusOK {
		return 0, errors.New(response.Status)
	}
	return 1, nil
}

func (s *server) page(w http.ResponseWriter, r *http.Request) {
	from, err := strconv.Atoi(r.FormValue("from"))
	if err != nil || from < 0 {
		http.Error(w, "from is no number", http.StatusBadRequest)
		return
	}
	var out strings.Builder
	out.WriteString("<ul>\n")
	for i := 0; i < 40; i++ {
		text := s.texts[(from+i)%len(s.texts)]
		fmt.Fprintf(&out, "<li id=%q>%s, %d words</li>\n", strconv.Itoa(i), html.EscapeString(text), countWords(text))
	}
	out.WriteString("</ul>\n")
	io.WriteString(w, out.String())
}

func countWords(text string) int {
	words, inside := 0, false
	for i := 0; i < len(text); i++ {
		if text[i] == ' ' {
			inside = false
		} else if !inside {
			words++
			inside = true
		}
	}
	return words
}

func (s *server) search(w http.ResponseWriter, r *http.Request) {
	wanted := r.FormValue("for")
	hits := 0
	for pass := 0; pass < s.passes; pass++ {
		hits += matches(s.texts[pass*3%100:pass*3%100+40], wanted)
	}
	fmt.Fprintf(w, "%d\n", hits)
}

// matches counts the texts that hold the letters of wanted, in their order.
func matches(texts []string, wanted string) int {
	hits := 0
	for _, text := range texts {
		at := 0
		for i := 0; i < len(text); i++ {
			if text[i] == wanted[at] {
				at++
				if at == len(wanted) {
					hits++
					at = 0
				}
			}
		}
	}
	return hits
}

func (s *server) order(w http.ResponseWriter, r *http.Request) {
	var o order
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	total := 0.0
	for _, line := range o.Lines {
		total += float64(line.Count) * line.Price
	}
	json.NewEncoder(w).Encode(map[string]any{"total": total, "lines": o.Lines, "at": o.Placed})
}
