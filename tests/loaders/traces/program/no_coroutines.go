//go:build !go1.23

package main

func coroutines(int) {}
