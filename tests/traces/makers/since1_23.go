package main

import "iter"

func init() { situations["coroutines"] = situation{during: pull} }

// pull switches between coroutines; one is stopped before its end.
func pull() {
	for i := 0; i < 5; i++ {
		next, stop := iter.Pull(func(yield func(int) bool) {
			for j := 0; j < 100 && yield(j); j++ {
			}
		})
		for j := 0; j < 60+20*i; j++ {
			next()
		}
		stop()
	}
}
