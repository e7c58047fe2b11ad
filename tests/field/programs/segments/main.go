// Segments estimates how many people of several audiences are reached by a campaign.
package main

import (
	"flag"
	"fmt"
	"math/rand"

	"example.com/field/capture"
	"github.com/RoaringBitmap/roaring"
)

// person is what is known about one, linked to the household.
type person struct {
	id        uint32
	household *person
	interests []string
}

type audiences struct {
	members []*roaring.Bitmap
	people  map[uint32]*person
}

// reach counts the members of both audiences by the number of their interests.
func (a *audiences) reach(one, other int, room []uint32) (total [4]int) {
	ids := a.overlap(one, other, room)
	for _, id := range ids {
		if p := a.people[id]; p != nil {
			total[len(p.interests)]++
		}
	}
	return total
}

var people = flag.Int("people", 60000, "people that are known")

func main() {
	capture.Main(func() (capture.Load, error) {
		random := rand.New(rand.NewSource(7))
		a := &audiences{people: map[uint32]*person{}}
		for i := 0; i < *people; i++ {
			p := &person{id: uint32(i) * 16, interests: make([]string, i%4)}
			p.household = a.people[uint32(i/3)*16]
			a.people[p.id] = p
		}
		for i := 0; i < 24; i++ {
			members := roaring.New()
			for n := 0; n < 40000; n++ {
				members.Add(uint32(random.Intn(*people * 16)))
			}
			a.members = append(a.members, members)
		}
		rooms := [2][]uint32{make([]uint32, size), make([]uint32, size)}
		turn := make([]int, len(rooms))
		return capture.Load{Workers: len(rooms), Step: func(worker int) error {
			turn[worker]++
			total := a.reach(turn[worker]%24, (turn[worker]/24+worker)%24, rooms[worker])
			if total[1] == 0 {
				return fmt.Errorf("nobody: %v", total)
			}
			return nil
		}}, nil
	})
}

const size = 1 << 16
