// Package web answers searches with a page of HTML.
package web

import (
	"html/template"
	"net/http"
	"strings"

	"example.com/workloads/rss-search/feed"
)

const pageSize = 12

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"shorten": shorten,
}).Parse(`<!doctype html>
<title>{{.Term}}: {{.Total}} found</title>
<h1>{{.Term}}</h1>
{{range .Results}}<article>
<h2><a href="{{.Item.Link}}" title="{{.Item.Title}}">{{.Item.Title}}</a></h2>
<p>{{.Channel}}, {{.Item.Date}}</p>
<p>{{shorten .Item.Description}}</p>
</article>
{{else}}<p>Nothing.</p>
{{end}}`))

// New returns the handler of /search.
func New(cache *feed.Cache) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/search", func(w http.ResponseWriter, r *http.Request) {
		term := r.FormValue("term")
		results := cache.Search(term)
		total := len(results)
		if len(results) > pageSize {
			results = results[:pageSize]
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		data := map[string]any{"Term": term, "Total": total, "Results": results}
		if err := page.Execute(w, data); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	return mux
}

// shorten keeps the first words of a text.
func shorten(text string) string {
	words := strings.Fields(text)
	if len(words) > 30 {
		words = append(words[:30], "…")
	}
	return strings.Join(words, " ")
}
