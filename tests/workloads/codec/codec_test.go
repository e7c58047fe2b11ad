package codec

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"
)

// executed counts the iterations of each benchmark, pilot runs of b.N too: what
// go test does not print.
var executed [6]atomic.Int64

var names = [...]string{
	"Encode", "Sum", "Sorted", "SortedBy/n=100", "SortedBy/n=1000", "ParallelSum",
}

func TestMain(m *testing.M) {
	code := m.Run()
	if path := os.Getenv("EXECUTED"); path != "" {
		file, err := os.Create(path)
		if err != nil {
			panic(err)
		}
		for i, name := range names {
			fmt.Fprintf(file, "%s %d\n", name, executed[i].Load())
		}
		file.Close()
	}
	os.Exit(code)
}

var (
	sinkBytes []byte
	sinkInts  []int
	sinkSum   atomic.Uint32
)

func data(n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(i * 7)
	}
	return out
}

func keys(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = (i * 7919) % 10007
	}
	return out
}

func BenchmarkEncode(b *testing.B) {
	records := Records(50)
	for i := 0; i < b.N; i++ {
		sinkBytes = Encode(records)
	}
	executed[0].Add(int64(b.N))
}

func BenchmarkSum(b *testing.B) {
	d := data(8192)
	for i := 0; i < b.N; i++ {
		sinkSum.Store(Sum(d))
	}
	executed[1].Add(int64(b.N))
}

func BenchmarkSorted(b *testing.B) {
	k := keys(300)
	for i := 0; i < b.N; i++ {
		sinkInts = Sorted(k)
	}
	executed[2].Add(int64(b.N))
}

func BenchmarkSortedBy(b *testing.B) {
	for at, n := range []int{100, 1000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			k := keys(n)
			for b.Loop() {
				sinkInts = Sorted(k)
			}
			executed[3+at].Add(int64(b.N))
		})
	}
}

func BenchmarkParallelSum(b *testing.B) {
	d := data(4096)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			sinkSum.Store(Sum(d))
		}
	})
	executed[5].Add(int64(b.N))
}
