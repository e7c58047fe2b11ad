package program

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
)

// BenchmarkPage renders a page of 60 sections.
func BenchmarkPage(b *testing.B) {
	var page strings.Builder
	for i := 0; i < 60; i++ {
		fmt.Fprintf(&page, "## Section %d\n\nSome *emphasis*, `code` & a [link](https://example.com/%d \"title\").\n", i, i)
		page.WriteString("Two lines of \"plain\" text <b>with</b> marks, a < b && c > d.\n\n")
		page.WriteString("- first item\n- second **item**\n  1. nested\n  2. list\n\n```go\nif a < b { return &x }\n```\n\n> quoted\n\n")
	}
	text := []byte(page.String())
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		var out bytes.Buffer
		if err := goldmark.Convert(text, &out); err != nil {
			b.Fatal(err)
		}
	}
}
