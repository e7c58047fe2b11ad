//go:build new

package feed

import "strings"

// prepare makes the lower-case copies once, when the document is read.
func prepare(item *Item) {
	item.lowerTitle = strings.ToLower(item.Title)
	item.lowerDescription = strings.ToLower(item.Description)
}

func normalize(term string) string {
	return strings.ToLower(term)
}

func matches(item *Item, term string) bool {
	if strings.Contains(item.lowerTitle, term) {
		return true
	}
	return strings.Contains(item.lowerDescription, term)
}
