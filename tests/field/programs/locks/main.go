// Command locks rates documents by rules that are kept in a table; most
// operations read the table, one in a hundred writes to it.
package main

import (
	"flag"
	"fmt"
	"strconv"

	"example.com/field/capture"
	"github.com/cespare/xxhash/v2"
	"github.com/tidwall/gjson"
)

const names = 4096

var rounds = flag.Int("rounds", 1, "how often a rule is evaluated when it is read")

// evaluate is what is done with a rule that was read.
func evaluate(rule string, seed uint64) uint64 {
	sum := seed
	for range *rounds {
		for _, path := range [...]string{"limit", "weights.3", "owner.city"} {
			sum ^= xxhash.Sum64String(gjson.Get(rule, path).Raw)
		}
	}
	return sum
}

func rule(number int) string {
	return fmt.Sprintf(`{"id":%d,"weights":[1,2,3,5,8,13,21,34],"text":"%0120d","owner":{"name":"n","city":"city %d"},"limit":%d}`,
		number, number, number%41, number%977)
}

func setup() (capture.Load, error) {
	t := newTable()
	keys := make([]string, names)
	for i := range keys {
		keys[i] = "rule:" + strconv.Itoa(i)
		t.write(keys[i], rule(i))
	}
	turn := make([]int, 8)
	sums := make([]uint64, 8*16)
	return capture.Load{Workers: 8, Step: func(worker int) error {
		for range 20 {
			turn[worker]++
			key := keys[(turn[worker]*7919+worker*104729)%names]
			if turn[worker]%100 == 0 {
				t.write(key, rule(turn[worker]))
				continue
			}
			sums[worker*16] += t.rate(key, uint64(worker))
		}
		return nil
	}}, nil
}

func main() { capture.Main(setup) }
