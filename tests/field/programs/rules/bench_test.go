package program

import (
	"fmt"
	"testing"

	"github.com/cespare/xxhash/v2"
)

type event struct {
	user   string
	amount int
}

type sampled struct{ share uint64 }

func (r *sampled) score(e *event) int { return int(xxhash.Sum64String(e.user) % r.share) }

type large struct{ limit int }

func (r *large) score(e *event) int {
	if e.amount > r.limit {
		return e.amount - r.limit
	}
	return 0
}

// BenchmarkRules scores 2 000 events by a sample, and by sixteen amounts.
func BenchmarkRules(b *testing.B) {
	events := make([]*event, 2000)
	for i := range events {
		events[i] = &event{user: fmt.Sprint("u", i%300), amount: i * 31 % 997}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		total := bySample(events, &sampled{7})
		for n := 0; n < 16; n++ {
			total += byAmount(events, &large{500 + n})
		}
		if total == 0 {
			b.Fatal("no score")
		}
	}
}
