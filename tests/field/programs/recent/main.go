// Recent decodes readings of devices and keeps the latest of each in an LRU cache.
package main

import (
	"encoding/json"
	"flag"
	"fmt"

	"example.com/field/capture"
	lru "github.com/hashicorp/golang-lru/v2"
)

var entries = flag.Int("entries", 25000, "readings kept")

type reading struct {
	Device string             `json:"device"`
	At     int64              `json:"at"`
	Values map[string]float64 `json:"values"`
	Labels []string           `json:"labels"`
	Note   string             `json:"note"`
}

type keeper struct {
	cache *lru.Cache[string, *reading]
	sent  [64][]byte
}

func (k *keeper) take(n int) error {
	read := new(reading)
	if err := json.Unmarshal(k.sent[n%len(k.sent)], read); err != nil {
		return err
	}
	read.Device = fmt.Sprintf("device-%07d", n%(4**entries))
	k.cache.Add(read.Device, read)
	return nil
}

func setup() (capture.Load, error) {
	cache, err := lru.New[string, *reading](*entries)
	if err != nil {
		return capture.Load{}, err
	}
	k := &keeper{cache: cache}
	for i := range k.sent {
		k.sent[i], _ = json.Marshal(reading{
			Device: "?", At: int64(i), Labels: []string{"north", "roof", fmt.Sprint("rack ", i)},
			Values: map[string]float64{"celsius": float64(i), "hpa": 1013.2, "volt": 3.3, "rssi": -67},
			Note:   fmt.Sprintf("%0200d", i),
		})
	}
	for i := range *entries {
		if err := k.take(i); err != nil {
			return capture.Load{}, err
		}
	}
	var turn [2]int
	return capture.Load{Workers: 2, Step: func(worker int) error {
		turn[worker]++
		return k.take(*entries + turn[worker]*2 + worker)
	}}, nil
}

func main() { capture.Main(setup) }
