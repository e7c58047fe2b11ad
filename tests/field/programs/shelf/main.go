// Shelf keeps carts in a Redis server of the same process, at times that are independent.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand"
	"time"

	"example.com/field/capture"
	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

var rate = flag.Float64("rate", 1000, "requests a second, on average")

func main() {
	capture.Main(func() (capture.Load, error) {
		kept, err := miniredis.Run()
		if err != nil {
			return capture.Load{}, err
		}
		client := redis.NewClient(&redis.Options{Addr: kept.Addr()})
		const workers = 8
		var next [workers]time.Time
		var turn [workers]int
		return capture.Load{Workers: workers, Step: func(worker int) error {
			turn[worker]++
			if next[worker].IsZero() {
				next[worker] = time.Now()
			}
			next[worker] = next[worker].Add(time.Duration(workers * rand.ExpFloat64() * float64(time.Second) / *rate))
			time.Sleep(time.Until(next[worker]))
			ctx, cart := context.Background(), fmt.Sprintf("cart:%d:%d", worker, turn[worker]%300)
			batch := client.Pipeline()
			for i := 0; i < 8; i++ {
				batch.HSet(ctx, cart, fmt.Sprintf("item-%d", i), turn[worker]+i)
			}
			batch.ZIncrBy(ctx, "popular", 1, cart)
			items := batch.HGetAll(ctx, cart)
			if _, err := batch.Exec(ctx); err != nil {
				return err
			}
			if len(items.Val()) != 8 {
				return fmt.Errorf("%d items", len(items.Val()))
			}
			return nil
		}}, nil
	})
}
