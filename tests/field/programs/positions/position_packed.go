//go:build !grouped

package main

// position is where a vehicle was last seen.
type position struct {
	vehicle, seen      int64
	speed              int32
	moving, late, full bool
}
