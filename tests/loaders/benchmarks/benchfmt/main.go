// Benchfmt answers, for each line of standard input, with what benchstat's reader finds
// in the benchmark output that the line holds in hexadecimal: a JSON array of results.
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"

	"golang.org/x/perf/benchfmt"
)

type result struct {
	Name   string      // hexadecimal, as names may be any bytes
	Iters  string      // too large for a JSON number
	Values [][2]string // bits of the float64 as printed, unit in hexadecimal
	Config [][2]string // key and value in hexadecimal
}

func bits(value float64) string {
	if math.IsNaN(value) {
		return "NaN"
	}
	return fmt.Sprint(math.Float64bits(value))
}

func text(s string) string { return hex.EncodeToString([]byte(s)) }

func read(data []byte) []result {
	found := []result{}
	reader := benchfmt.NewReader(bytes.NewReader(data), "")
	for reader.Scan() {
		record, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		one := result{Name: text(record.Name.String()), Iters: fmt.Sprint(record.Iters)}
		for _, v := range record.Values {
			value, unit := v.Value, v.Unit
			if v.OrigUnit != "" {
				value, unit = v.OrigValue, v.OrigUnit
			}
			one.Values = append(one.Values, [2]string{bits(value), text(unit)})
		}
		for _, c := range record.Config {
			one.Config = append(one.Config, [2]string{text(c.Key), hex.EncodeToString(c.Value)})
		}
		found = append(found, one)
	}
	return found
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		data, err := hex.DecodeString(string(bytes.TrimSpace(line)))
		if err != nil {
			panic(err)
		}
		if err := answers.Encode(read(data)); err != nil {
			panic(err)
		}
	}
}
