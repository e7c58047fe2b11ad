// Paced reads documents at a rate, as a service is asked from outside.
package main

import (
	"flag"
	"fmt"
	"time"

	"example.com/field/capture"
	"gopkg.in/yaml.v3"
)

var rate = flag.Float64("rate", 1000, "requests a second")

func main() {
	capture.Main(func() (capture.Load, error) {
		const workers = 2
		document := []byte("services:\n")
		for i := 0; i < 60; i++ {
			document = append(document, fmt.Sprintf("- {name: service-%d, port: %d}\n", i, 8000+i)...)
		}
		next := [workers]time.Time{time.Now(), time.Now()}
		return capture.Load{Workers: workers, Step: func(worker int) error {
			next[worker] = next[worker].Add(time.Duration(workers * float64(time.Second) / *rate))
			time.Sleep(time.Until(next[worker]))
			var read struct {
				Services []struct {
					Name string
					Port int
				}
			}
			return yaml.Unmarshal(document, &read)
		}}, nil
	})
}
