//go:build after

package program

import "github.com/tidwall/gjson"

func pipeline(country string, least float64) step {
	return chain(
		func(r *record) bool {
			return gjson.Get(r.text, "user.country").Str == country
		},
		func(r *record) bool {
			r.user = gjson.Get(r.text, "user.id").Str
			return r.user != ""
		},
		func(r *record) bool {
			for round := 0; round < 8; round++ {
				for i := 0; i < len(r.text); i++ {
					r.mark = (r.mark ^ uint32(r.text[i])) * 16777619
				}
			}
			return true
		},
		func(r *record) bool {
			gjson.Get(r.text, "lines.#.price").ForEach(func(_, price gjson.Result) bool {
				r.total += price.Num
				return true
			})
			return r.total > least
		},
	)
}
