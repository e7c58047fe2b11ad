// Checks adds up CRCs, sorts and looks words up for 20 s, under a CPU profile that it writes
// to its first argument.
package main

import (
	"fmt"
	"hash/crc32"
	"os"
	"runtime/pprof"
	"sort"
	"strings"
	"time"
)

type table struct{ counts map[string]int }

func (t *table) add(word string) { t.counts[word]++ }

func clamp(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

func mix(h uint32, n int) uint32 { return h*31 + uint32(clamp(n)) }

func work(text []string) uint32 {
	t := &table{map[string]int{}}
	var h uint32
	for i, w := range text {
		t.add(w)
		h = mix(h, i) ^ crc32.ChecksumIEEE([]byte(w))
	}
	keys := make([]string, 0, len(t.counts))
	for k := range t.counts {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return keys[i] < keys[j] })
	joined := strings.Join(keys, " ")
	return h ^ crc32.ChecksumIEEE([]byte(joined)) ^ crc32.Checksum([]byte(strings.Repeat(joined, 20)), crc32.MakeTable(crc32.Castagnoli))
}

func main() {
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	var text []string
	for i := 0; i < 3000; i++ {
		text = append(text, fmt.Sprintf("word%d", i*7919%701))
	}
	pprof.StartCPUProfile(file)
	n := 0
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); n++ {
		work(text)
	}
	pprof.StopCPUProfile()
	file.Close()
	fmt.Println(n)
}
