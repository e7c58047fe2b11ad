package program

import (
	"encoding/binary"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// A blob is an open value of a store; its owner closes it.
type blob struct {
	from *store
	data []byte
	open bool
}

type store struct {
	mu     sync.Mutex
	values map[uint64][]byte
	opened int
}

func newStore(n int) *store {
	s := &store{values: map[uint64][]byte{}}
	for i := 0; i < n; i++ {
		value := make([]byte, 512)
		binary.LittleEndian.PutUint64(value, uint64(i))
		s.values[uint64(i)] = value
	}
	return s
}

func (s *store) Open(id uint64) *blob {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened++
	b := &blob{from: s, data: append([]byte(nil), s.values[id]...), open: true}
	guard(b)
	return b
}

func (b *blob) Sum() uint64 { return xxhash.Sum64(b.data) }

func (b *blob) Close() {
	b.from.mu.Lock()
	defer b.from.mu.Unlock()
	b.from.opened--
	b.open = false
	unguard(b)
}

func checksums(s *store, ids []uint64) (sum uint64) {
	for _, id := range ids {
		b := s.Open(id)
		sum += b.Sum()
		b.Close()
	}
	return sum
}
