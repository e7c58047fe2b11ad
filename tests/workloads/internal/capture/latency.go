package capture

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

const steps = 8 // buckets per doubling: a quantile is known to about 9 %

// Histogram counts durations in buckets of equal ratio. The zero value is
// ready to use by any number of goroutines.
type Histogram struct {
	counts [64 * steps]atomic.Int64
	total  atomic.Int64 // nanoseconds
}

// Observe adds one duration.
func (h *Histogram) Observe(d time.Duration) {
	ns := uint64(d)
	octave := bits.Len64(ns | steps)
	fraction := ns >> (octave - 4) & (steps - 1)
	h.counts[uint64(octave)*steps+fraction].Add(1)
	h.total.Add(int64(d))
}

type latencies struct {
	counts [64 * steps]int64
	total  int64
}

func (h *Histogram) read() *latencies {
	l := &latencies{total: h.total.Load()}
	for i := range h.counts {
		l.counts[i] = h.counts[i].Load()
	}
	return l
}

func (l *latencies) minus(earlier *latencies) *latencies {
	d := &latencies{total: l.total - earlier.total}
	for i := range l.counts {
		d.counts[i] = l.counts[i] - earlier.counts[i]
	}
	return d
}

func (l *latencies) summary() map[string]float64 {
	var n int64
	for _, c := range l.counts {
		n += c
	}
	if n == 0 {
		return nil
	}
	return map[string]float64{
		"mean": round(float64(l.total) / float64(n)),
		"p50":  round(l.quantile(n, 0.50)),
		"p99":  round(l.quantile(n, 0.99)),
		"p999": round(l.quantile(n, 0.999)),
		"max":  round(l.quantile(n, 1)),
	}
}

// quantile returns the upper edge, in nanoseconds, of the bucket that holds it.
func (l *latencies) quantile(n int64, q float64) float64 {
	rank := int64(math.Ceil(q * float64(n)))
	for i, c := range l.counts {
		rank -= c
		if rank <= 0 {
			octave, fraction := i/steps, i%steps
			return math.Ldexp(float64(steps+fraction+1), octave-4)
		}
	}
	return math.NaN()
}

// round turns nanoseconds into milliseconds with four decimals.
func round(ns float64) float64 {
	return math.Round(ns/100) / 1e4
}
