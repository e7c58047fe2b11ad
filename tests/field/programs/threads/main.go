// Threads renders nested comments with a recursive template.
package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"text/template"
	"time"

	"example.com/field/capture"
	"github.com/go-chi/chi/v5"
)

type comment struct {
	By, Text string
	Answers  []*comment
}

var layout = template.Must(template.New("comment").Parse(
	`<li><b>{{.By}}</b> {{.Text}}{{with .Answers}}<ul>{{range .}}{{template "comment" .}}{{end}}</ul>{{end}}</li>
`))

// talk makes a thread in which each comment answers the one before.
func talk(depth int) *comment {
	c := &comment{By: fmt.Sprint("user ", depth), Text: "I do not agree with that."}
	if depth > 1 {
		c.Answers = []*comment{talk(depth - 1)}
	}
	return c
}

type board struct{ talks []*comment }

func (b *board) show(w http.ResponseWriter, r *http.Request) {
	var n int
	fmt.Sscan(chi.URLParam(r, "thread"), &n)
	if err := layout.Execute(w, b.talks[n%len(b.talks)]); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (b *board) routes() http.Handler {
	r := chi.NewRouter()
	if timeout > 0 {
		r.Use(func(next http.Handler) http.Handler {
			return http.TimeoutHandler(next, timeout, "the board is busy")
		})
	}
	r.Get("/threads/{thread}", b.show)
	return r
}

func setup() (capture.Load, error) {
	const workers = 4
	b := &board{}
	for i := range 16 {
		b.talks = append(b.talks, talk(24+i))
	}
	server := httptest.NewServer(b.routes())
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}}
	var turn [workers]int
	return capture.Load{Workers: workers, Step: func(worker int) error {
		turn[worker]++
		answer, err := client.Get(fmt.Sprintf("%s/threads/%d", server.URL, turn[worker]))
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		n, err := io.Copy(io.Discard, answer.Body)
		if err == nil && n < 1000 {
			err = fmt.Errorf("%d bytes", n)
		}
		return err
	}}, nil
}

var _ = time.Second

func main() { capture.Main(setup) }
