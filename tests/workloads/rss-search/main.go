// Command rss-search models a web page that searches news feeds held in memory.
//
// The base build makes a lower-case copy of every item for every request; that
// one line allocates about half of all bytes. The new build makes the copies
// when a feed is read. Each request then costs half the bytes and half the
// collections, while the collector's share of the CPU hardly changes.
package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"log"
	"math/rand"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"example.com/workloads/internal/capture"
	"example.com/workloads/rss-search/feed"
	"example.com/workloads/rss-search/web"
)

const (
	readers  = 4
	channels = 3
	items    = 45    // per channel
	length   = 70    // words per description
	archived = 20000 // items that stay in memory
)

var words = strings.Fields(`President Senate vote Budget market Storm river
	Coast hospital School teacher Energy price Union strike Court judge Museum
	festival Football league Harbour bridge Airport minister Report climate
	Forest fire rescue Team border Treaty summit Election county Farm harvest`)

func main() {
	capture.Main(setup)
}

func setup() (capture.Load, error) {
	random := rand.New(rand.NewSource(1))
	cache := feed.NewCache(makeArchive(random))
	var texts [][]byte
	for i := 0; i < channels; i++ {
		texts = append(texts, makeFeed(i, random))
		if err := refresh(cache, i, texts[i]); err != nil {
			return capture.Load{}, err
		}
	}
	go refreshForever(cache, texts)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return capture.Load{}, err
	}
	go http.Serve(listener, web.New(cache))
	client := &client{url: "http://" + listener.Addr().String() + "/search?term="}
	return capture.Load{
		Unit:    "requests",
		Workers: readers,
		Step:    client.step,
		Trace:   200 * time.Millisecond,
	}, nil
}

type client struct {
	url  string
	sent [readers]int
}

func (c *client) step(worker int) (int, error) {
	c.sent[worker]++
	term := words[(c.sent[worker]*readers+worker)%len(words)]
	response, err := http.Get(c.url + url.QueryEscape(term))
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && !bytes.Contains(text, []byte("<article>")) {
		err = fmt.Errorf("nothing found for %q", term)
	}
	return 1, err
}

func refresh(cache *feed.Cache, place int, text []byte) error {
	document, err := feed.Parse(text)
	if err == nil {
		cache.Store(place, document)
	}
	return err
}

func refreshForever(cache *feed.Cache, texts [][]byte) {
	for i := 0; ; i++ {
		time.Sleep(200 * time.Millisecond)
		place := i % len(texts)
		if err := refresh(cache, place, texts[place]); err != nil {
			log.Fatal(err)
		}
	}
}

type rss struct {
	XMLName xml.Name     `xml:"rss"`
	Channel string       `xml:"channel>title"`
	Items   []*feed.Item `xml:"channel>item"`
}

func makeFeed(channel int, random *rand.Rand) []byte {
	document := rss{Channel: fmt.Sprintf("Channel %d", channel+1)}
	for i := 0; i < items; i++ {
		item := makeItem(random, length)
		item.Link = fmt.Sprintf("https://news.example.com/%d/%d", channel, i)
		document.Items = append(document.Items, item)
	}
	text, err := xml.Marshal(document)
	if err != nil {
		log.Fatal(err)
	}
	return text
}

func makeArchive(random *rand.Rand) []*feed.Item {
	var old []*feed.Item
	for i := 0; i < archived; i++ {
		item := makeItem(random, 4)
		item.Link = fmt.Sprintf("https://news.example.com/archive/%d", i)
		old = append(old, item)
	}
	return old
}

func makeItem(random *rand.Rand, length int) *feed.Item {
	return &feed.Item{
		Title:       sentence(random, 8),
		Date:        fmt.Sprintf("Mon, %02d Jun 2026 08:00:00 GMT", random.Intn(28)+1),
		Description: sentence(random, length),
	}
}

func sentence(random *rand.Rand, n int) string {
	var b strings.Builder
	for i := 0; i < n; i++ {
		b.WriteString(words[random.Intn(len(words))])
		b.WriteByte(' ')
	}
	return b.String()
}
