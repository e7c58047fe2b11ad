package main

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"
)

type ring struct {
	slots []string
	next  int
}

//go:noinline
func (r *ring) put(s string) {
	if planted {
		copy(r.slots, r.slots[1:])
		r.slots[len(r.slots)-1] = s
		return
	}
	r.slots[r.next] = s
	r.next = (r.next + 1) % len(r.slots)
}

//go:noinline
func words(i int) []string {
	w := strings.Fields("the quick brown fox jumps over the lazy dog " + strconv.Itoa(i))
	sort.Strings(w)
	return w
}

func main() {
	r := &ring{slots: make([]string, 256)}
	secs, _ := strconv.Atoi(os.Args[1])
	end := time.Now().Add(time.Duration(secs) * time.Second)
	ops := 0
	for time.Now().Before(end) {
		for k := 0; k < 100; k++ {
			for _, w := range words(k) {
				r.put(w)
			}
			ops++
		}
	}
	fmt.Println("operations", ops)
}
