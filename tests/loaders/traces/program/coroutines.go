//go:build go1.23

package main

import "iter"

func coroutines(rounds int) {
	next, stop := iter.Pull(func(yield func(int) bool) {
		for i := 0; yield(i); i++ {
		}
	})
	for range rounds {
		next()
	}
	stop()
}
