package program

import (
	"math/rand"
	"testing"

	lru "github.com/hashicorp/golang-lru/v2"
)

type session struct {
	User string
	Hits int
}

// BenchmarkSessions looks 10 000 users up, of whom most are in the cache.
func BenchmarkSessions(b *testing.B) {
	random := rand.New(rand.NewSource(1))
	users := rand.NewZipf(random, 1.1, 20, 100000)
	wanted := make([]int, 10000)
	for i := range wanted {
		wanted[i] = int(users.Uint64())
	}
	cache, err := lru.New[int, *session](5000)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		lookUp(cache, wanted)
	}
}

func lookUp(cache *lru.Cache[int, *session], wanted []int) (sum int) {
	for _, key := range wanted {
		value, ok := cache.Get(key)
		if ok {
			sum += value.Hits
			continue
		}
		cache.Add(key, &session{Hits: key})
	}
	return sum
}
