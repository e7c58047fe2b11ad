// Command spawn signs the rows of a table; how the rows are given to goroutines
// differs between the builds.
package main

import (
	"crypto/sha256"
	"fmt"

	"example.com/field/capture"
	"golang.org/x/sync/errgroup"
)

const rows = 512

type signed [sha256.Size]byte

func sign(row []byte) signed { return sha256.Sum256(row) }

func setup() (capture.Load, error) {
	all := make([][]byte, rows)
	for i := range all {
		all[i] = fmt.Appendf(nil, "row %040d", i)
	}
	made := make([][]signed, 2)
	for i := range made {
		made[i] = make([]signed, rows)
	}
	return capture.Load{Workers: 2, Step: func(worker int) error {
		var group errgroup.Group
		signAll(&group, all, made[worker])
		return group.Wait()
	}}, nil
}

func main() { capture.Main(setup) }
