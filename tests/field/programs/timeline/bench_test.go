package program

import (
	"math/rand"
	"sort"
	"testing"
)

type event struct {
	at   int64
	kind int
	text string
}

type timeline []event

func (t timeline) Len() int           { return len(t) }
func (t timeline) Less(i, j int) bool { return t[i].at < t[j].at }
func (t timeline) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }

// BenchmarkTimeline sorts 100 000 events of which few stand out of order, and
// many share a time.
func BenchmarkTimeline(b *testing.B) {
	random := rand.New(rand.NewSource(1))
	events := make(timeline, 100000)
	for i := range events {
		events[i] = event{at: int64(i / 4), kind: i % 5}
	}
	for i := 0; i < 3; i++ {
		a := random.Intn(len(events) - 1)
		events[a], events[a+1] = events[a+1], events[a]
	}
	kinds := make(timeline, len(events))
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		copy(kinds, events)
		sort.Sort(kinds)
		for j := range kinds {
			kinds[j].at = int64(kinds[j].kind)
		}
		sort.Sort(kinds)
	}
}
