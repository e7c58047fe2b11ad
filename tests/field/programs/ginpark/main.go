// Command ginpark is a gin server whose handler asks two replicas at once and
// takes the first answer, and its clients on loopback.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"

	"example.com/field/capture"
	"github.com/gin-gonic/gin"
)

func ask(replica int, key string, answers chan<- string) {
	sum := sha256.Sum256([]byte(fmt.Sprint(replica, key)))
	answers <- hex.EncodeToString(sum[:])
}

func first(key string) string {
	answers := make(chan string, room)
	for replica := range 2 {
		go ask(replica, key, answers)
	}
	return <-answers
}

func setup() (capture.Load, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return capture.Load{}, err
	}
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.GET("/keys/:key", func(c *gin.Context) {
		c.JSON(http.StatusOK, gin.H{"key": c.Param("key"), "value": first(c.Param("key"))})
	})
	go http.Serve(listener, r)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	return capture.Load{Workers: 8, Step: func(worker int) error {
		answer, err := client.Get(fmt.Sprintf("http://%s/keys/%d", listener.Addr(), worker))
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		_, err = io.Copy(io.Discard, answer.Body)
		return err
	}}, nil
}

func main() { capture.Main(setup) }
