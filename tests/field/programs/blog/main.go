// Blog renders pages of Markdown; with -cache it keeps what it rendered.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand"
	"strings"

	"example.com/field/capture"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/yuin/goldmark"
)

var keep = flag.Int("cache", 0, "pages that the cache keeps")

func page(n int) []byte {
	var text strings.Builder
	for i := 0; i < 12; i++ {
		fmt.Fprintf(&text, "## Post %d.%d\n\nWith *emphasis*, `code` and a [link](/posts/%d).\n\n- one\n- **two**\n\n", n, i, i)
	}
	return []byte(text.String())
}

func main() {
	capture.Main(func() (capture.Load, error) {
		pages := make([][]byte, 2000)
		for i := range pages {
			pages[i] = page(i)
		}
		var cache *lru.Cache[int, []byte]
		if *keep > 0 {
			made, err := lru.New[int, []byte](*keep)
			if err != nil {
				return capture.Load{}, err
			}
			cache = made
		}
		visits := make([]*rand.Zipf, 2)
		for i := range visits {
			visits[i] = rand.NewZipf(rand.New(rand.NewSource(int64(i))), 1.2, 8, uint64(len(pages)-1))
		}
		return capture.Load{Workers: 2, Step: func(worker int) error {
			n := int(visits[worker].Uint64())
			if cache != nil {
				if _, ok := cache.Get(n); ok {
					return nil
				}
			}
			var out bytes.Buffer
			if err := goldmark.Convert(pages[n], &out); err != nil {
				return err
			}
			if cache != nil {
				cache.Add(n, out.Bytes())
			}
			return nil
		}}, nil
	})
}
