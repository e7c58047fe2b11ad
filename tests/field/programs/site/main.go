// Site renders product pages with html/template and keeps them in an LRU cache.
package main

import (
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"

	"example.com/field/capture"
	lru "github.com/hashicorp/golang-lru/v2"
)

type review struct {
	By    string
	Stars int
	Text  string
}

type product struct {
	ID      int
	Name    string
	Price   float64
	Tags    []string
	Reviews []review
}

var layout = template.Must(template.New("page").Parse(`<!doctype html><title>{{.Name}}</title>
<h1 id="p{{.ID}}">{{.Name}}</h1><p class="price">{{printf "%.2f" .Price}} EUR</p>
<ul>{{range .Tags}}<li><a href="/tags/{{.}}">{{.}}</a></li>{{end}}</ul>
{{range .Reviews}}<article title="{{.By}}"><b>{{.Stars}}</b> {{.Text}}</article>{{end}}
<script>track({{.ID}}, {{.Name}});</script>`))

type site struct {
	products []product
	rendered *lru.Cache[string, []byte]
}

func newSite() (*site, error) {
	rendered, err := lru.New[string, []byte](1024)
	if err != nil {
		return nil, err
	}
	s := &site{rendered: rendered}
	for i := range 800 {
		p := product{ID: i, Name: "Lamp <" + strconv.Itoa(i) + ">", Price: float64(i) * 1.1, Tags: []string{"light", "home", "led"}}
		for j := range 5 {
			p.Reviews = append(p.Reviews, review{"user " + strconv.Itoa(j), j, "Bright & cheap, for the price of it."})
		}
		s.products = append(s.products, p)
	}
	return s, nil
}

func setup() (capture.Load, error) {
	const workers = 4
	s, err := newSite()
	if err != nil {
		return capture.Load{}, err
	}
	server := httptest.NewServer(s)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}}
	var turn [workers]int
	return capture.Load{Workers: workers, Step: func(worker int) error {
		turn[worker]++
		n := turn[worker]*workers + worker
		answer, err := client.Get(fmt.Sprintf("%s/products/%d?visit=%d", server.URL, n*37%800, n%5000))
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		_, err = io.Copy(io.Discard, answer.Body)
		return err
	}}, nil
}

func main() { capture.Main(setup) }
