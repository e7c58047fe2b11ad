//go:build base

package main

// An answer that comes late has room, and nobody reads it.
const room = 1
