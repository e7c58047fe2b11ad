// Package codec encodes records, sums checksums and sorts keys: three jobs whose
// benchmarks one CPU profile holds. The build tag planted makes Encode dearer.
package codec

import (
	"slices"
	"strconv"
)

// Record is one row of a table.
type Record struct {
	ID    int64
	Name  string
	Score float64
}

// Records returns n records, the same ones each time.
func Records(n int) []Record {
	records := make([]Record, n)
	for i := range records {
		id := int64(i)*2654435761 + 12345
		records[i] = Record{id, "record " + strconv.Itoa(i), float64(i) / 7}
	}
	return records
}

// Encode returns the records as lines of text.
func Encode(records []Record) []byte {
	out := encoded(records)
	check(records, out)
	return out
}

//go:noinline
func encoded(records []Record) []byte {
	var out []byte
	for _, r := range records {
		out = strconv.AppendInt(out, r.ID, 10)
		out = append(out, ' ')
		out = strconv.AppendQuote(out, r.Name)
		out = append(out, ' ')
		out = strconv.AppendFloat(out, r.Score, 'g', -1, 64)
		out = append(out, '\n')
	}
	return out
}

// Sum returns a checksum of data.
//
//go:noinline
func Sum(data []byte) uint32 {
	a, b := uint32(1), uint32(0)
	for _, c := range data {
		a = (a + uint32(c)) % 65521
		b = (b + a) % 65521
	}
	return b<<16 | a
}

// Sorted returns a sorted copy of keys.
//
//go:noinline
func Sorted(keys []int) []int {
	out := slices.Clone(keys)
	slices.Sort(out)
	return out
}
