package main

import (
	"encoding/json"
	"io"
	"io/ioutil"
	"net"
	"net/http"
	"sync"
)

func init() { situations["http"] = situation{during: serve} }

const clients, requests = 6, 40

// serve answers requests of a few clients, each over a loopback connection of its own
// that stays open.
func serve() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	server := &http.Server{Handler: http.HandlerFunc(answer)}
	done := make(chan bool)
	go func() {
		server.Serve(listener)
		close(done)
	}()
	url := "http://" + listener.Addr().String() + "/"
	var group sync.WaitGroup
	for i := 0; i < clients; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			transport := &http.Transport{}
			for j := 0; j < requests; j++ {
				get(&http.Client{Transport: transport}, url)
			}
			transport.CloseIdleConnections()
		}()
	}
	group.Wait()
	check(server.Close())
	<-done
}

func answer(w http.ResponseWriter, r *http.Request) {
	rows := make([]map[string]int, 20)
	for i := range rows {
		rows[i] = map[string]int{"id": i, "square": i * i}
	}
	json.NewEncoder(w).Encode(rows)
}

func get(client *http.Client, url string) {
	response, err := client.Get(url)
	check(err)
	_, err = io.Copy(ioutil.Discard, response.Body)
	check(err)
	check(response.Body.Close())
}
