// Endpoints serves requests of three endpoints in its own process, each under a label
// of the profile and, with -trace, as a user task of that name, or with -regions as a
// user region. The planted build compiles a pattern for each request to /search.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"runtime/trace"
	"sort"
	"strings"
	"time"
)

// In turn: 6 of 10 requests go to /cart, 3 to /search, 1 to /orders.
var mix = []string{
	"/cart", "/search", "/cart", "/cart", "/search",
	"/cart", "/orders", "/cart", "/search", "/cart",
}

type item struct {
	Name  string `json:"name"`
	Price int    `json:"price"`
}

var (
	items []item
	sink  int
)

func cart() {
	text, err := json.Marshal(items[:40])
	if err != nil {
		panic(err)
	}
	sink += len(text)
}

func search(i int) {
	matches := matcher(i)
	for _, one := range items {
		if matches(one.Name) {
			sink++
		}
	}
}

func orders() {
	sorted := append([]item(nil), items...)
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].Price < sorted[j].Price })
	sink += sorted[0].Price
}

func main() {
	path := flag.String("cpuprofile", "cpu.pb.gz", "where the CPU profile goes")
	traced := flag.String("trace", "", "where an execution trace goes")
	regions := flag.Bool("regions", false, "trace requests as regions, not as tasks")
	seconds := flag.Float64("seconds", 5, "how long requests are served")
	flag.Parse()
	for i := 0; i < 400; i++ {
		name := fmt.Sprintf("item %03d %s", i*7919%400, strings.Repeat("x", i%30))
		items = append(items, item{name, i * 104729 % 1000})
	}
	file, err := os.Create(*path)
	if err != nil {
		panic(err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		panic(err)
	}
	if *traced != "" {
		out, err := os.Create(*traced)
		if err != nil {
			panic(err)
		}
		if err := trace.Start(out); err != nil {
			panic(err)
		}
		defer trace.Stop()
	}
	end := time.Now().Add(time.Duration(*seconds * float64(time.Second)))
	served := 0
	for ; time.Now().Before(end); served++ {
		endpoint := mix[served%len(mix)]
		labels := pprof.Labels("endpoint", endpoint)
		pprof.Do(context.Background(), labels, func(ctx context.Context) {
			if *regions {
				defer trace.StartRegion(ctx, endpoint).End()
			} else {
				_, task := trace.NewTask(ctx, endpoint)
				defer task.End()
			}
			switch endpoint {
			case "/cart":
				cart()
			case "/search":
				search(served)
			default:
				orders()
			}
		})
	}
	pprof.StopCPUProfile()
	if err := file.Close(); err != nil {
		panic(err)
	}
	fmt.Println(served)
}
