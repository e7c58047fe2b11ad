// Forest keeps lists of small objects in trees, and replaces them one by one.
package main

import (
	"math/rand"

	"example.com/field/capture"
	"github.com/emirpasic/gods/trees/avltree"
)

type reading struct {
	next   *reading
	values [3]float64
}

func chain(random *rand.Rand) *reading {
	var first *reading
	for i := 0; i < 8; i++ {
		first = &reading{next: first, values: [3]float64{random.Float64()}}
	}
	return first
}

func main() {
	capture.Main(func() (capture.Load, error) {
		const workers, size = 2, 80_000
		trees := make([]*avltree.Tree, workers)
		randoms := make([]*rand.Rand, workers)
		for i := range trees {
			trees[i] = avltree.NewWithIntComparator()
			randoms[i] = rand.New(rand.NewSource(int64(i)))
			for key := 0; key < size; key++ {
				trees[i].Put(key, chain(randoms[i]))
			}
		}
		return capture.Load{Workers: workers, Step: func(worker int) error {
			for i := 0; i < 20; i++ {
				trees[worker].Put(randoms[worker].Intn(size), chain(randoms[worker]))
			}
			return nil
		}}, nil
	})
}
