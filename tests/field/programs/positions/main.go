// Command positions keeps the last positions of vehicles in an ordered index,
// which is built again from the feed in each round.
package main

import (
	"fmt"

	"example.com/field/capture"
	"github.com/tidwall/btree"
)

func less(a, b position) bool { return a.vehicle < b.vehicle }

type fleet struct {
	index *btree.BTreeG[position]
	round int64
}

// reload builds the index of 60,000 vehicles and looks up a third of them.
func (f *fleet) reload() (int, error) {
	f.round++
	next := btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})
	for i := int64(0); i < 60000; i++ {
		next.Load(position{vehicle: i * 3, seen: f.round, speed: int32(i % 90), moving: i%4 != 0, late: i%9 == 0, full: i%7 == 0})
	}
	f.index = next
	late := 0
	for i := int64(0); i < 60000; i += 3 {
		p, ok := f.index.Get(position{vehicle: i * 3})
		if !ok {
			return 0, fmt.Errorf("no vehicle %d", i)
		}
		if p.late && p.moving {
			late++
		}
	}
	return late, nil
}

func setup() (capture.Load, error) {
	fleets := []*fleet{{}, {}}
	return capture.Load{Workers: 2, Step: func(worker int) error {
		_, err := fleets[worker].reload()
		return err
	}}, nil
}

func main() { capture.Main(setup) }
