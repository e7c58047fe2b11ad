//go:build grouped

package main

// position is where a vehicle was last seen, grouped by what is shown together.
type position struct {
	moving  bool
	vehicle int64
	late    bool
	seen    int64
	full    bool
	speed   int32
}
