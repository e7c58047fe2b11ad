//go:build parts

package main

//go:noinline
func (c *counter) words(text []byte) {
	start := -1
	for i, b := range text {
		letter := b >= 'a' && b <= 'z'
		if letter && start < 0 {
			start = i
		}
		if letter || start < 0 {
			continue
		}
		word := text[start:i]
		hash := uint32(2166136261)
		for _, w := range word {
			hash ^= uint32(w)
			hash *= 16777619
		}
		if hash%7 == 0 {
			c.seen[string(word)]++
		}
		start = -1
	}
}

//go:noinline
func (c *counter) digest(text []byte) {
	run, last := 0, byte(0)
	for _, b := range text {
		c.bytes[b]++
		if b == last {
			run++
			continue
		}
		if run < len(c.runs) {
			c.runs[run]++
		}
		run, last = 0, b
	}
	c.words(text)
}
