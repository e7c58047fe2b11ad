//go:build !new

package feed

import "strings"

func prepare(*Item) {}

func normalize(term string) string {
	return term
}

// matches makes a lower-case copy of the item for every request.
func matches(item *Item, term string) bool {
	if strings.Contains(strings.ToLower(item.Title), strings.ToLower(term)) {
		return true
	}
	return strings.Contains(strings.ToLower(item.Description), strings.ToLower(term))
}
