// Load is a server for load generators: it prints its address, and answers well
// (/fine), with errors now and then (/mixed) or late (/slow).
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	body := strings.Repeat("x", 512)
	http.HandleFunc("/fine", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, body)
	})
	var calls atomic.Int64
	http.HandleFunc("/mixed", func(w http.ResponseWriter, r *http.Request) {
		call := calls.Add(1)
		time.Sleep(time.Millisecond)
		switch {
		case call%5 == 0:
			http.Error(w, "no", http.StatusServiceUnavailable)
		case call%97 == 0:
			panic(http.ErrAbortHandler)
		default:
			fmt.Fprint(w, "ok")
		}
	})
	http.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(1500 * time.Millisecond)
	})
	log.Fatal(http.Serve(listener, nil))
}
