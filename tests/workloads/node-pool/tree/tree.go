// Package tree keeps candidates in order of their score. A tree takes its
// nodes from a pool, all of them at once, and gives them back when it is
// released.
package tree

// Size is the number of nodes that a tree can hold.
const Size = 1024

// Candidate is one entry.
type Candidate struct {
	ID    uint64  `json:"id"`
	Score float64 `json:"score"`
}
