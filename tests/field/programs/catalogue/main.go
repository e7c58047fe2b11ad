// Catalogue answers with prices that it loads from shards, once for all who ask at a time.
package main

import (
	"flag"
	"fmt"
	"time"

	"example.com/field/capture"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"
)

const shards = 8

var together = flag.Int("together", shards, "shards that are loaded at a time")

type catalogue struct {
	group singleflight.Group
}

// shard stands for a store that takes a while to answer.
func shard(number int) map[string]int {
	time.Sleep(500 * time.Microsecond)
	prices := make(map[string]int, 64)
	for i := range 64 {
		prices[fmt.Sprint("item ", number*64+i)] = i
	}
	return prices
}

func (c *catalogue) load() (any, error) {
	var loaders errgroup.Group
	loaders.SetLimit(*together)
	loaded := make([]map[string]int, shards)
	for i := range loaded {
		loaders.Go(func() error {
			loaded[i] = shard(i)
			return nil
		})
	}
	return loaded, loaders.Wait()
}

func (c *catalogue) price(number int) (int, error) {
	loaded, err, _ := c.group.Do("prices", c.load)
	if err != nil {
		return 0, err
	}
	return loaded.([]map[string]int)[number%shards][fmt.Sprint("item ", number)], nil
}

func main() {
	capture.Main(func() (capture.Load, error) {
		c := &catalogue{}
		return capture.Load{Workers: 6, Step: func(worker int) error {
			_, err := c.price(worker)
			return err
		}}, nil
	})
}
