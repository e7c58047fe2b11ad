// Command backend is a go-chi server that asks a price service for each request.
// The service is another process, reached over loopback; its answer takes -delay.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"example.com/field/capture"
	"github.com/go-chi/chi/v5"
)

var delay = flag.Duration("delay", 0, "time that the price service takes")

type quote struct {
	Symbol string    `json:"symbol"`
	Prices []float64 `json:"prices"`
}

// service is the price service: it tells its address, and ends with its input.
func service() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.Exit(1)
	}
	wait, _ := time.ParseDuration(os.Getenv("FIELD_SERVICE"))
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(wait)
		json.NewEncoder(w).Encode(quote{r.URL.Path, []float64{1.5, 2.5, 3.25, 4, 5.125}})
	}))
	fmt.Println(listener.Addr())
	io.Copy(io.Discard, os.Stdin)
}

// command is kept: the service ends when its input is collected.
var command *exec.Cmd

func start() (string, error) {
	command = exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "FIELD_SERVICE="+delay.String())
	if _, err := command.StdinPipe(); err != nil {
		return "", err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err = command.Start(); err != nil {
		return "", err
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	return strings.TrimSpace(address), err
}

func fetchQuote(client *http.Client, address, symbol string) (quote, error) {
	var got quote
	answer, err := client.Get("http://" + address + "/" + symbol)
	if err != nil {
		return got, err
	}
	defer answer.Body.Close()
	err = json.NewDecoder(answer.Body).Decode(&got)
	io.Copy(io.Discard, answer.Body)
	return got, err
}

func setup() (capture.Load, error) {
	address, err := start()
	if err != nil {
		return capture.Load{}, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return capture.Load{}, err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	r := chi.NewRouter()
	r.Get("/quotes/{symbol}", func(w http.ResponseWriter, r *http.Request) {
		got, err := fetchQuote(client, address, chi.URLParam(r, "symbol"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		json.NewEncoder(w).Encode(got)
	})
	go http.Serve(listener, r)
	return capture.Load{Workers: 8, Step: func(worker int) error {
		answer, err := client.Get(fmt.Sprintf("http://%s/quotes/S%d", listener.Addr(), worker))
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("%s", answer.Status)
		}
		_, err = io.Copy(io.Discard, answer.Body)
		return err
	}}, nil
}

func main() {
	if os.Getenv("FIELD_SERVICE") != "" {
		service()
		return
	}
	capture.Main(setup)
}
