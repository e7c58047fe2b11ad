//go:build renamed

package program

import "example.com/acme/fastjson"

// worth adds up the lines of an order.
func worth(v *fastjson.Value) float64 {
	sum := 0.0
	for _, line := range v.GetArray("lines") {
		sum += priced(line)
	}
	return sum
}

//go:noinline
func priced(line *fastjson.Value) float64 {
	return line.GetFloat64("price") * float64(line.GetInt("quantity"))
}
