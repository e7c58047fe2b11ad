// Ingest reads events, signs and packs them.
package main

import (
	"bytes"
	"compress/flate"
	"crypto/sha512"
	"fmt"

	"example.com/field/capture"
)

type event struct {
	ID    string   `json:"id"`
	User  string   `json:"user"`
	Price float64  `json:"price"`
	Tags  []string `json:"tags"`
}

func main() {
	capture.Main(func() (capture.Load, error) {
		var texts [][]byte
		for i := 0; i < 100; i++ {
			texts = append(texts, []byte(fmt.Sprintf(
				`{"id":"e-%d","user":"user %d","price":%d.25,"tags":["a%d","b","c"],"extra":{"x":[1,2,3],"y":null}}`, i, i%17, i, i%5)))
		}
		packers := make([]*flate.Writer, 2)
		for i := range packers {
			packer, err := flate.NewWriter(nil, flate.BestSpeed)
			if err != nil {
				return capture.Load{}, err
			}
			packers[i] = packer
		}
		return capture.Load{Workers: 2, Step: func(worker int) error {
			var out bytes.Buffer
			sum := sha512.New()
			for _, text := range texts {
				e, err := read(text)
				if err != nil {
					return err
				}
				fmt.Fprintf(&out, "%s;%s;%.2f;%d\n", e.ID, e.User, e.Price, len(e.Tags))
				sum.Write(text)
			}
			var packed bytes.Buffer
			packers[worker].Reset(&packed)
			if _, err := packers[worker].Write(sum.Sum(out.Bytes())); err != nil {
				return err
			}
			return packers[worker].Close()
		}}, nil
	})
}
