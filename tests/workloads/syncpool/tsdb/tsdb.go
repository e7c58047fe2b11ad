// Package tsdb keeps series in shards. A batch of points waits in a shard until
// enough newer ones have come; then it is written out.
package tsdb

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"sort"
	"sync"

	"example.com/workloads/syncpool/lineproto"
)

// Series is one line of history that never leaves memory.
type Series struct {
	ID     uint32
	Key    string
	Labels map[string]*Label
	Recent *Sample
}

// Label is a name and a value, shared by all series of one host.
type Label struct{ Name, Value string }

// Sample is one measured number; the list holds the newest first.
type Sample struct {
	Time  int64
	Value float64
	Older *Sample
}

// Batch is what one request wrote.
type Batch struct {
	Source []byte // who sent it, for the log
	IDs    []uint32
	Values []float64
	Times  []int64
}

// Shard owns the series whose keys hash to it.
type Shard struct {
	mu      sync.Mutex
	series  map[string]*Series
	waiting []*Batch // a ring: a new batch pushes the oldest out
	next    int
	flush   chan *Batch
	blocks  int
	written int64
}

// DB is the set of shards.
type DB struct{ shards []*Shard }

// Open starts a database whose shards hold the given number of batches each.
func Open(shards, waiting int) *DB {
	db := &DB{}
	for i := 0; i < shards; i++ {
		s := &Shard{
			series:  map[string]*Series{},
			waiting: make([]*Batch, waiting),
			flush:   make(chan *Batch, 16),
		}
		db.shards = append(db.shards, s)
		go s.flusher()
	}
	return db
}

// Shard returns the shard for a sender.
func (db *DB) Shard(source []byte) *Shard {
	h := fnv.New32a()
	h.Write(source)
	return db.shards[h.Sum32()%uint32(len(db.shards))]
}

// Write adds the points of one request.
func (s *Shard) Write(source []byte, points []*lineproto.Point) {
	n := 0
	for _, p := range points {
		n += len(p.Fields)
	}
	b := &Batch{
		Source: source,
		IDs:    make([]uint32, 0, n),
		Values: make([]float64, 0, n),
		Times:  make([]int64, 0, len(points)),
	}
	s.mu.Lock()
	for _, p := range points {
		for _, f := range p.Fields {
			b.IDs = append(b.IDs, s.lookup(p, f).ID)
			b.Values = append(b.Values, f.Value)
		}
		b.Times = append(b.Times, p.Time)
	}
	oldest := s.waiting[s.next]
	s.waiting[s.next] = b
	s.next = (s.next + 1) % len(s.waiting)
	s.mu.Unlock()
	if oldest != nil {
		s.flush <- oldest
	}
}

func (s *Shard) lookup(p *lineproto.Point, f lineproto.Field) *Series {
	key := p.Key(f.Name)
	if found, ok := s.series[key]; ok {
		return found
	}
	created := &Series{
		ID:     uint32(len(s.series)),
		Key:    key,
		Labels: make(map[string]*Label, len(p.Tags)),
	}
	for _, t := range p.Tags {
		created.Labels[t.Name] = &Label{t.Name, t.Value}
	}
	for i := 0; i < 4; i++ {
		created.Recent = &Sample{Time: p.Time, Value: f.Value, Older: created.Recent}
	}
	s.series[key] = created
	return created
}

// Summary is what a query for one label returns.
type Summary struct {
	Label  string             `json:"label"`
	Series int                `json:"series"`
	Latest map[string]float64 `json:"latest"`
}

// Query looks at the first limit series and returns those with the label.
func (s *Shard) Query(name, value string, limit int) Summary {
	out := Summary{Label: name + "=" + value, Latest: map[string]float64{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, series := range s.series {
		if limit--; limit < 0 {
			break
		}
		if l := series.Labels[name]; l != nil && l.Value == value {
			out.Series++
			out.Latest[key] = series.Recent.Value
		}
	}
	return out
}

func (s *Shard) flusher() {
	buffer := make([]byte, 0, 64<<10)
	for b := range s.flush {
		buffer = encode(buffer[:0], b)
		s.blocks++
		s.written += int64(len(buffer))
	}
}

// encode writes a block: series in order, then times, numbers as differences.
func encode(out []byte, b *Batch) []byte {
	order := make([]int, len(b.IDs))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(i, j int) bool { return b.IDs[order[i]] < b.IDs[order[j]] })
	out = binary.AppendUvarint(out, uint64(len(b.Source)))
	out = append(out, b.Source...)
	var id uint32
	var time int64
	var bits uint64
	for _, i := range order {
		v := math.Float64bits(b.Values[i])
		out = binary.AppendUvarint(out, uint64(b.IDs[i]-id))
		out = binary.AppendUvarint(out, v^bits)
		id, bits = b.IDs[i], v
	}
	for _, t := range b.Times {
		out = binary.AppendVarint(out, t-time)
		time = t
	}
	return out
}
