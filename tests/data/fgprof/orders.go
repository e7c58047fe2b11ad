// Handles 400 orders; each waits for a quote, 2 ms in base and 9 ms in new.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/felixge/fgprof"
)

type Order struct {
	ID    int
	Lines []string
}

const quoteLatency = 2 * time.Millisecond

//go:noinline
func fetchQuote(o *Order) float64 {
	time.Sleep(quoteLatency) // the quote service answers
	return float64(o.ID%7) + 0.5
}

//go:noinline
func priceLines(o *Order, q float64) float64 {
	s := 0.0
	for r := 0; r < 120000; r++ {
		for _, l := range o.Lines {
			s += float64(len(l)*r%13) * q / float64(1+r%5)
		}
	}
	return s
}

//go:noinline
func renderInvoice(o *Order, total float64) string {
	var b strings.Builder
	for i := 0; i < 800; i++ {
		b.WriteString(strconv.FormatFloat(total/float64(i+1), 'f', 2, 64))
		b.WriteByte(';')
	}
	return b.String()
}

func handleOrder(id int) int {
	o := &Order{ID: id, Lines: []string{"bolt-m6", "nut-m6", "washer", "plate-40", "bracket", "hinge", "screw-3x20", "handle", "lock", "glass"}}
	q := fetchQuote(o)
	t := priceLines(o, q)
	return len(renderInvoice(o, t))
}

func main() {
	format := fgprof.FormatPprof
	if os.Args[2] == "folded" {
		format = fgprof.FormatFolded
	}
	f, _ := os.Create(os.Args[1])
	stop := fgprof.Start(f, format)
	t0 := time.Now()
	n := 0
	for i := 0; i < 400; i++ {
		n += handleOrder(i)
	}
	d := time.Since(t0)
	if err := stop(); err != nil {
		panic(err)
	}
	f.Close()
	fmt.Println(n, d, d/400)
}
