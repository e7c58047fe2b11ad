//go:build mutex

package main

import "sync"

type table struct {
	mu    sync.Mutex
	rules map[string]string
}

func newTable() *table { return &table{rules: map[string]string{}} }

func (t *table) rate(key string, seed uint64) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return evaluate(t.rules[key], seed)
}

func (t *table) write(key, rule string) {
	t.mu.Lock()
	t.rules[key] = rule
	t.mu.Unlock()
}
