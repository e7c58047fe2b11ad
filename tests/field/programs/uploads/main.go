// Uploads sends files to a store, another process, as streams of one HTTP/2 connection.
package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"example.com/field/capture"
	"golang.org/x/net/http2"
)

var window = flag.Int("window", 4<<20, "bytes of an upload that may be under way")

// far is a connection over which what is sent takes two milliseconds to arrive.
type far struct{ net.Conn }

func (f far) Write(b []byte) (int, error) {
	time.Sleep(2 * time.Millisecond)
	return f.Conn.Write(b)
}

// store takes uploads: it says its address, and ends with its input.
func store() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.Exit(1)
	}
	size, _ := strconv.Atoi(os.Getenv("FIELD_STORE"))
	server := &http2.Server{MaxUploadBufferPerStream: int32(size), MaxUploadBufferPerConnection: 32 << 20}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		taken, _ := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, taken)
	})
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go server.ServeConn(far{conn}, &http2.ServeConnOpts{Handler: handler})
		}
	}()
	fmt.Println(listener.Addr())
	io.Copy(io.Discard, os.Stdin)
}

// command is kept: the store ends when its input is collected.
var command *exec.Cmd

func start() (string, error) {
	command = exec.Command(os.Args[0])
	command.Env = append(os.Environ(), fmt.Sprint("FIELD_STORE=", *window))
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

// upload returns when the store has all of a file.
func upload(client *http.Client, address string, file []byte) error {
	answer, err := client.Post("http://"+address+"/", "application/octet-stream", bytes.NewReader(file))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	taken, err := io.ReadAll(answer.Body)
	if err == nil && string(taken) != fmt.Sprint(len(file)) {
		err = fmt.Errorf("the store has %s of %d bytes", taken, len(file))
	}
	return err
}

func setup() (capture.Load, error) {
	address, err := start()
	if err != nil {
		return capture.Load{}, err
	}
	client := &http.Client{Transport: &http2.Transport{
		AllowHTTP: true,
		DialTLS: func(network, address string, _ *tls.Config) (net.Conn, error) {
			return net.Dial(network, address)
		},
	}}
	file := make([]byte, 1<<20)
	return capture.Load{Workers: 4, Step: func(int) error {
		return upload(client, address, file)
	}}, nil
}

func main() {
	if os.Getenv("FIELD_STORE") != "" {
		store()
		return
	}
	capture.Main(setup)
}
