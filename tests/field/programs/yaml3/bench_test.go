package program

import (
	"fmt"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

type deployment struct {
	Name     string            `yaml:"name"`
	Replicas int               `yaml:"replicas"`
	Labels   map[string]string `yaml:"labels"`
	Ports    []struct {
		Name string `yaml:"name"`
		Port int    `yaml:"port"`
	} `yaml:"ports"`
}

// BenchmarkConfig reads a configuration of 150 services.
func BenchmarkConfig(b *testing.B) {
	var document strings.Builder
	for i := 0; i < 150; i++ {
		fmt.Fprintf(&document, "- name: service-%d\n  replicas: %d\n  labels:\n    app: shop-%d\n    tier: \"back end\"\n", i, i%7, i)
		fmt.Fprintf(&document, "  ports:\n  - name: http\n    port: %d\n  - {name: metrics, port: %d}\n", 8000+i, 9000+i)
	}
	text := []byte(document.String())
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		var services []deployment
		if err := yaml.Unmarshal(text, &services); err != nil || len(services) != 150 {
			b.Fatal(err, len(services))
		}
	}
}
