//go:build shards

package main

import (
	"sync"

	"github.com/cespare/xxhash/v2"
)

type shard struct {
	mu    sync.Mutex
	rules map[string]string
	_     [48]byte
}

type table struct{ shards [64]shard }

func newTable() *table {
	t := &table{}
	for i := range t.shards {
		t.shards[i].rules = map[string]string{}
	}
	return t
}

func (t *table) shard(key string) *shard {
	return &t.shards[xxhash.Sum64String(key)%uint64(len(t.shards))]
}

func (t *table) rate(key string, seed uint64) uint64 {
	s := t.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	return evaluate(s.rules[key], seed)
}

func (t *table) write(key, rule string) {
	s := t.shard(key)
	s.mu.Lock()
	s.rules[key] = rule
	s.mu.Unlock()
}
