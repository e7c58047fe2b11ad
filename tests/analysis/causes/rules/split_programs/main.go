// Counts the words of a text some times under a CPU profile.
//
// What counts them is in another file, chosen by a build tag: in one function, or in two.
package main

import (
	"os"
	"runtime/pprof"
	"strconv"
)

type counter struct {
	seen  map[string]int
	runs  [64]int
	bytes [256]uint32
}

// render is the same in all builds.
//
//go:noinline
func (c *counter) render(out []byte) []byte {
	out = out[:0]
	for i, n := range c.bytes {
		out = strconv.AppendInt(out, int64(i), 10)
		out = append(out, ':')
		out = strconv.AppendUint(out, uint64(n), 16)
		if n%3 == 0 {
			out = append(out, ' ', '-', ' ')
		}
	}
	return out
}

func text() []byte {
	var out []byte
	state := uint32(7)
	for len(out) < 6000 {
		state = state*1664525 + 1013904223
		for n := 2 + state>>29; n > 0; n-- {
			out = append(out, 'a'+byte(state>>(8+n))%26)
		}
		out = append(out, " ,.\n"[state>>30])
	}
	return out
}

func main() {
	rounds, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	file, err := os.Create(os.Args[2])
	if err != nil {
		panic(err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		panic(err)
	}
	c := &counter{seen: map[string]int{}}
	input, out := text(), []byte{}
	for range rounds {
		c.digest(input)
		for range 4 {
			out = c.render(out)
		}
	}
	pprof.StopCPUProfile()
	if err := file.Close(); err != nil {
		panic(err)
	}
}
