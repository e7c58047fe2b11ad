package program

import (
	"fmt"
	"math/rand"
	"testing"
)

// BenchmarkIndex makes an inverted index of 3 000 texts, and asks it.
func BenchmarkIndex(b *testing.B) {
	random := rand.New(rand.NewSource(1))
	words := make([]string, 40000)
	for i := range words {
		words[i] = fmt.Sprintf("word%d", i*7919)
	}
	texts := make([][]string, 3000)
	for i := range texts {
		for j := 0; j < 40; j++ {
			texts[i] = append(texts[i], words[random.Intn(len(words))])
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		counts, last := map[string]int{}, map[uint64]int{}
		for n, text := range texts {
			for _, word := range text {
				counts[word]++
				last[uint64(len(word))<<32|uint64(counts[word])] = n
			}
		}
		hits := 0
		for round := 0; round < 4; round++ {
			for _, word := range words {
				if counts[word] > 3 {
					hits++
				}
			}
		}
		if hits == 0 {
			b.Fatal("nothing")
		}
	}
}
