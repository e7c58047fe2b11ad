//go:build base

package main

func (g *register) leave(id string) {
	g.mu.Lock()
	delete(g.active, id)
	g.mu.Unlock()
}
