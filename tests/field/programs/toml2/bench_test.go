package program

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

type settings struct {
	Title string
	Hosts []struct {
		Name    string
		Weight  float64
		Tags    []string
		Enabled bool
	}
}

// BenchmarkSettings reads a file of 200 tables.
func BenchmarkSettings(b *testing.B) {
	var document strings.Builder
	document.WriteString("title = 'Hosts'\n")
	for i := 0; i < 200; i++ {
		fmt.Fprintf(&document, "[[hosts]]\nname = \"host-%d\"\nweight = %d.5\ntags = [\"a\", \"zone-%d\"]\nenabled = true\n", i, i, i%9)
	}
	text := []byte(document.String())
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		var read settings
		if err := toml.Unmarshal(text, &read); err != nil || len(read.Hosts) != 200 {
			b.Fatal(err, len(read.Hosts))
		}
	}
}
