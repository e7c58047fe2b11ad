// Command zstd models a service that sends compressed device states.
//
// The base build constructs an encoder for every message and lets it go: many
// megabytes of tables and buffers a call, and the collections they cause stop
// everybody. The new build pools encoders, as published: it never flushes them,
// so a part of the gain is compression that no longer happens.
package main

import (
	"encoding/json"
	"hash/crc32"
	"math/rand"
	"sync"
	"time"

	"example.com/workloads/internal/capture"
	"example.com/workloads/zstd/codec"
	"example.com/workloads/zstd/device"
)

const (
	senders = 4
	devices = 60000
	states  = 6 // in a message
)

func main() {
	capture.Main(setup)
}

func setup() (capture.Load, error) {
	s := &service{
		store: device.NewStore(devices, rand.New(rand.NewSource(1))),
		queue: make(chan []byte, 64),
	}
	for i := range s.random {
		s.random[i] = rand.New(rand.NewSource(int64(i)))
	}
	go s.publish()
	return capture.Load{
		Unit:    "messages",
		Workers: senders,
		Step:    s.send,
		Trace:   200 * time.Millisecond,
	}, nil
}

type service struct {
	store  *device.Store
	random [senders]*rand.Rand
	queue  chan []byte

	mu  sync.Mutex
	sum uint32
	out int
}

func (s *service) send(worker int) (int, error) {
	random := s.random[worker]
	changed := s.store.Update(random.Intn(devices), random.Int(), random.Float64(), states)
	text, err := json.Marshal(changed)
	if err != nil {
		return 0, err
	}
	packed, err := codec.Compress(text)
	if err != nil {
		return 0, err
	}
	s.queue <- packed
	return 1, nil
}

func (s *service) publish() {
	for message := range s.queue {
		s.mu.Lock()
		s.sum = crc32.Update(s.sum, crc32.IEEETable, message)
		s.out += len(message)
		s.mu.Unlock()
	}
}
