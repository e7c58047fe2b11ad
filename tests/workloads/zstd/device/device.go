// Package device keeps the last known state of many devices.
package device

import (
	"fmt"
	"math/rand"
	"sync"
)

// Reading is one measured number.
type Reading struct {
	Sensor string  `json:"sensor"`
	Unit   string  `json:"unit"`
	Value  float64 `json:"value"`
	Time   int64   `json:"time"`
}

// State is what is known of one device.
type State struct {
	ID       string              `json:"id"`
	Site     string              `json:"site"`
	Readings map[string]*Reading `json:"readings"`
}

// Store is the set of devices.
type Store struct {
	mu     sync.Mutex
	states []*State
}

var sensors = []string{"current", "humidity", "pressure", "temperature", "voltage"}

// NewStore makes up n devices.
func NewStore(n int, random *rand.Rand) *Store {
	s := &Store{}
	for i := 0; i < n; i++ {
		state := &State{
			ID:       fmt.Sprintf("device-%06d", i),
			Site:     fmt.Sprintf("site-%03d", random.Intn(500)),
			Readings: map[string]*Reading{},
		}
		for _, sensor := range sensors {
			state.Readings[sensor] = &Reading{Sensor: sensor, Unit: "SI", Time: int64(i)}
		}
		s.states = append(s.states, state)
	}
	return s
}

// Update stores a new value for a device and returns a copy of some states
// around it.
func (s *Store) Update(index int, sensor int, value float64, n int) []State {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.states[index].Readings[sensors[sensor%len(sensors)]]
	r.Value = value
	r.Time++
	copies := make([]State, 0, n)
	for i := 0; i < n; i++ {
		state := s.states[(index+i)%len(s.states)]
		readings := make(map[string]*Reading, len(state.Readings))
		for name, reading := range state.Readings {
			kept := *reading
			readings[name] = &kept
		}
		copies = append(copies, State{state.ID, state.Site, readings})
	}
	return copies
}
