// Command moremath prints the statistics that benchstat rests on, in full precision.
//
// Each line of standard input holds two samples, "x x x | y y y", and is answered by
// one line: median, order of low and high of both samples' confidence interval of the
// median at 95 %, then the two-sided p of the U test or "equal".
package main

import (
	"bufio"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"

	"github.com/aclements/go-moremath/stats"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var samples [2][]float64
		for side, text := range strings.Split(lines.Text(), "|") {
			samples[side] = numbers(text)
			ci := stats.QuantileCI(len(samples[side]), 0.5, 0.95)
			median := stats.Sample{Xs: samples[side], Sorted: true}.Quantile(0.5)
			fmt.Print(median, " ", ci.LoOrder, " ", ci.HiOrder, " ")
		}
		result, err := stats.MannWhitneyUTest(samples[0], samples[1], stats.LocationDiffers)
		switch err {
		case nil:
			fmt.Println(result.P)
		case stats.ErrSamplesEqual:
			fmt.Println("equal")
		default:
			panic(err)
		}
	}
	if err := lines.Err(); err != nil {
		panic(err)
	}
}

func numbers(text string) []float64 {
	var values []float64
	for _, word := range strings.Fields(text) {
		value, err := strconv.ParseFloat(word, 64)
		if err != nil {
			panic(err)
		}
		values = append(values, value)
	}
	sort.Float64s(values)
	return values
}
