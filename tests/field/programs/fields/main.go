// Command fields reads rows whose optional fields are often missing.
package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"example.com/field/capture"
)

var errEmpty = errors.New("empty row")

type row struct {
	cells map[string]string
}

func (r *row) number(name string) (int64, error) {
	cell, ok := r.cells[name]
	if !ok {
		return 0, missing(name)
	}
	return strconv.ParseInt(cell, 10, 64)
}

func read(line string) (*row, error) {
	if line == "" {
		return nil, errEmpty
	}
	r := &row{cells: map[string]string{}}
	for _, part := range strings.Split(line, ";") {
		key, value, ok := strings.Cut(part, "=")
		if ok {
			r.cells[key] = value
		}
	}
	return r, nil
}

func sum(line string) (int64, error) {
	r, err := read(line)
	if err != nil {
		return 0, err
	}
	var total int64
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		n, err := r.number(name)
		if err != nil {
			continue // optional
		}
		total += n
	}
	return total, nil
}

func setup() (capture.Load, error) {
	var lines []string
	for i := 0; i < 200; i++ {
		var parts []string
		for j, name := range []string{"a", "b", "c", "d", "x", "y", "z", "e"} {
			if (i+j)%3 != 0 {
				parts = append(parts, fmt.Sprintf("%s=%d", name, i*j))
			}
		}
		lines = append(lines, strings.Join(parts, ";"))
	}
	return capture.Load{Workers: 2, Step: func(int) error {
		for _, line := range lines {
			if _, err := sum(line); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

func main() { capture.Main(setup) }
