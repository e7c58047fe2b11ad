//go:build !new

package tree

import "sync"

type node struct {
	Candidate
	priority    uint64
	left, right *node
	features    [3]float64
}

// Tree is a treap whose nodes point to each other.
type Tree struct {
	root  *node
	nodes []*node
	used  int
	seed  uint64
}

var pool = sync.Pool{New: func() any {
	nodes := make([]*node, Size)
	for i := range nodes {
		nodes[i] = new(node)
	}
	return &nodes
}}

// New returns an empty tree.
func New(seed uint64) *Tree {
	return &Tree{nodes: *pool.Get().(*[]*node), seed: seed | 1}
}

// Release gives the nodes back. The tree must not be used any more.
func (t *Tree) Release() {
	nodes := t.nodes
	t.root, t.nodes = nil, nil
	pool.Put(&nodes)
}

// Full tells whether there is no room for another candidate.
func (t *Tree) Full() bool {
	return t.used == len(t.nodes)
}

// Insert adds a candidate.
func (t *Tree) Insert(c Candidate) {
	n := t.nodes[t.used]
	t.used++
	t.seed ^= t.seed << 13
	t.seed ^= t.seed >> 7
	t.seed ^= t.seed << 17
	*n = node{Candidate: c, priority: t.seed}
	t.root = insert(t.root, n)
}

func insert(at, n *node) *node {
	if at == nil {
		return n
	}
	if n.Score > at.Score {
		at.left = insert(at.left, n)
		if at.left.priority > at.priority {
			up := at.left
			at.left, up.right = up.right, at
			return up
		}
		return at
	}
	at.right = insert(at.right, n)
	if at.right.priority > at.priority {
		up := at.right
		at.right, up.left = up.left, at
		return up
	}
	return at
}

// Top appends the n best candidates to out.
func (t *Tree) Top(out []Candidate, n int) []Candidate {
	return top(t.root, out, n)
}

func top(at *node, out []Candidate, n int) []Candidate {
	if at == nil || len(out) == n {
		return out
	}
	out = top(at.left, out, n)
	if len(out) < n {
		out = append(out, at.Candidate)
	}
	return top(at.right, out, n)
}
