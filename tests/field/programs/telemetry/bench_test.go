package program

import (
	"fmt"
	"testing"

	"github.com/fxamacker/cbor/v2"
)

// BenchmarkReadings encodes 100 devices' readings, each with a map of labels.
func BenchmarkReadings(b *testing.B) {
	type reading struct {
		Device string            `cbor:"1,keyasint"`
		At     int64             `cbor:"2,keyasint"`
		Labels map[string]string `cbor:"3,keyasint"`
		Values map[string]int    `cbor:"4,keyasint"`
	}
	var readings []reading
	for i := 0; i < 100; i++ {
		one := reading{fmt.Sprint("device-", i), int64(1700000000 + i), map[string]string{}, map[string]int{}}
		for n := 0; n < 12; n++ {
			one.Labels[fmt.Sprint("label-", n)] = fmt.Sprint("value-", i*n)
			one.Values[fmt.Sprint("sensor-", n)] = i * n
		}
		readings = append(readings, one)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if _, err := cbor.Marshal(readings); err != nil {
			b.Fatal(err)
		}
	}
}
