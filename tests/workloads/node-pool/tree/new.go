//go:build new

package tree

import (
	"math/rand"
	"sync/atomic"
)

// node holds indices into its tree's array; 0 means none.
type node struct {
	Candidate
	priority    uint64
	left, right int32
	features    [5]float64
}

// Tree is a treap in one array.
type Tree struct {
	root  int32
	nodes []node
	used  int
	seed  uint64
}

const slots = 32

// pool holds the arrays that are not in use. An access picks a slot at random,
// so that goroutines seldom meet, and gives up after a few tries.
var pool [slots]atomic.Pointer[[]node]

func get() []node {
	for try := 0; try < 4; try++ {
		slot := &pool[rand.Intn(slots)]
		if nodes := slot.Load(); nodes != nil && slot.CompareAndSwap(nodes, nil) {
			return *nodes
		}
	}
	return make([]node, Size+1)
}

func put(nodes []node) {
	for try := 0; try < 4; try++ {
		if pool[rand.Intn(slots)].CompareAndSwap(nil, &nodes) {
			return
		}
	}
}

// New returns an empty tree.
func New(seed uint64) *Tree {
	return &Tree{nodes: get(), seed: seed | 1}
}

// Release gives the nodes back. The tree must not be used any more.
func (t *Tree) Release() {
	nodes := t.nodes
	t.root, t.nodes = 0, nil
	put(nodes)
}

// Full tells whether there is no room for another candidate.
func (t *Tree) Full() bool {
	return t.used == Size
}

// Insert adds a candidate.
func (t *Tree) Insert(c Candidate) {
	t.used++
	t.seed ^= t.seed << 13
	t.seed ^= t.seed >> 7
	t.seed ^= t.seed << 17
	t.nodes[t.used] = node{Candidate: c, priority: t.seed}
	t.root = insert(t.nodes, t.root, int32(t.used))
}

func insert(nodes []node, at, n int32) int32 {
	if at == 0 {
		return n
	}
	here := &nodes[at]
	if nodes[n].Score > here.Score {
		here.left = insert(nodes, here.left, n)
		if up := here.left; nodes[up].priority > here.priority {
			here.left, nodes[up].right = nodes[up].right, at
			return up
		}
		return at
	}
	here.right = insert(nodes, here.right, n)
	if up := here.right; nodes[up].priority > here.priority {
		here.right, nodes[up].left = nodes[up].left, at
		return up
	}
	return at
}

// Top appends the n best candidates to out.
func (t *Tree) Top(out []Candidate, n int) []Candidate {
	return top(t.nodes, t.root, out, n)
}

func top(nodes []node, at int32, out []Candidate, n int) []Candidate {
	if at == 0 || len(out) == n {
		return out
	}
	out = top(nodes, nodes[at].left, out, n)
	if len(out) < n {
		out = append(out, nodes[at].Candidate)
	}
	return top(nodes, nodes[at].right, out, n)
}
