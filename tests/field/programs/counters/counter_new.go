//go:build new

package counters

type counter struct{ done uint64 }
