//go:build planted

package codec

import "bytes"

// check encodes the records twice more: Encode does three times the work.
//
//go:noinline
func check(records []Record, out []byte) {
	for i := 0; i < 2; i++ {
		if !bytes.Equal(encoded(records), out) {
			panic("codec: not the same twice")
		}
	}
}
