// Command web is a go-chi server that decodes, prices and encodes JSON orders,
// and its clients on loopback.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"

	"example.com/field/capture"
	"github.com/go-chi/chi/v5"
)

var (
	items   = flag.Int("items", 40000, "articles that the server keeps")
	clients = flag.Int("clients", 8, "clients that ask at once")
	reuse   = flag.Bool("reuse", true, "clients keep their connections")
)

type article struct {
	ID    int       `json:"id"`
	Name  string    `json:"name"`
	Tags  []string  `json:"tags"`
	Price float64   `json:"price"`
	Maker *maker    `json:"maker"`
	Sizes []float64 `json:"sizes"`
}

type maker struct {
	Name string `json:"name"`
	City string `json:"city"`
}

type order struct {
	Customer string `json:"customer"`
	Lines    []line `json:"lines"`
}

type line struct {
	Article int `json:"article"`
	Count   int `json:"count"`
}

type offer struct {
	Customer string     `json:"customer"`
	Articles []*article `json:"articles"`
	Total    float64    `json:"total"`
}

func stock() map[int]*article {
	all := make(map[int]*article, *items)
	for i := range *items {
		all[i] = &article{
			ID: i, Name: "article " + strconv.Itoa(i), Price: float64(i%97) + 0.5,
			Tags:  []string{"tag " + strconv.Itoa(i%31), "group " + strconv.Itoa(i%7)},
			Maker: &maker{"maker " + strconv.Itoa(i%13), "city " + strconv.Itoa(i%11)},
			Sizes: []float64{float64(i % 5), float64(i % 9), 1.5},
		}
	}
	return all
}

func price(all map[int]*article, asked order) offer {
	made := offer{Customer: asked.Customer}
	for _, l := range asked.Lines {
		a := all[l.Article]
		made.Articles = append(made.Articles, a)
		made.Total += a.Price * float64(l.Count)
	}
	return made
}

func routes(all map[int]*article) http.Handler {
	r := chi.NewRouter()
	r.Post("/shops/{shop}/offers", func(w http.ResponseWriter, r *http.Request) {
		var asked order
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("X-Shop", chi.URLParam(r, "shop"))
		json.NewEncoder(w).Encode(price(all, asked))
	})
	return r
}

func setup() (capture.Load, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return capture.Load{}, err
	}
	go http.Serve(listener, routes(stock()))
	url := fmt.Sprintf("http://%s/shops/7/offers", listener.Addr())
	client := &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: *clients, DisableKeepAlives: !*reuse,
	}}
	bodies := make([][]byte, 64)
	for i := range bodies {
		asked := order{Customer: "customer " + strconv.Itoa(i)}
		for j := range 12 {
			asked.Lines = append(asked.Lines, line{(i*7919 + j*104729) % *items, j})
		}
		bodies[i], _ = json.Marshal(asked)
	}
	turn := make([]int, *clients)
	return capture.Load{Workers: *clients, Step: func(worker int) error {
		turn[worker]++
		answer, err := client.Post(url, "application/json", bytes.NewReader(bodies[turn[worker]%len(bodies)]))
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		_, err = io.Copy(io.Discard, answer.Body)
		return err
	}}, nil
}

func main() { capture.Main(setup) }
