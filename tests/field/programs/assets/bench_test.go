package program

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/css"
	"github.com/tdewolff/minify/v2/html"
	"github.com/tdewolff/minify/v2/js"
)

// BenchmarkAssets makes a page with its style and script smaller.
func BenchmarkAssets(b *testing.B) {
	m := minify.New()
	m.AddFunc("text/css", css.Minify)
	m.AddFunc("text/html", html.Minify)
	m.AddFunc("application/javascript", js.Minify)
	var page strings.Builder
	page.WriteString("<!doctype html>\n<html>\n <head>\n  <style>\n")
	for i := 0; i < 60; i++ {
		fmt.Fprintf(&page, "  .box-%d > a:hover { margin: 0px 0px %dpx 0px; color: #ff0000; }\n", i, i)
	}
	page.WriteString("</style><script>\n")
	for i := 0; i < 60; i++ {
		fmt.Fprintf(&page, "function handler%d (event, other) {\n  var total = event.count + %d;\n  if (total > 10) { return other(total, true); } else { return false; }\n}\n", i, i)
	}
	page.WriteString("</script></head><body>\n")
	for i := 0; i < 120; i++ {
		fmt.Fprintf(&page, "  <div class=\"box-%d\" id='x%d' >\n   <a href=\"/item/%d\">  item   %d </a>\n  </div>\n", i%60, i, i, i)
	}
	page.WriteString("</body></html>")
	text := page.String()
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		small, err := m.String("text/html", text)
		if err != nil || len(small) >= len(text) {
			b.Fatal(len(small), err)
		}
	}
}
