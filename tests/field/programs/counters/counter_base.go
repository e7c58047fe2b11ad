//go:build base

package counters

type counter struct {
	done uint64
	_    [120]byte
}
