// Package feed holds parsed RSS documents and finds items in them.
package feed

import (
	"bytes"
	"encoding/xml"
	"sync"
)

// Item is one entry of a document.
type Item struct {
	Title       string `xml:"title"`
	Link        string `xml:"link"`
	Date        string `xml:"pubDate"`
	Description string `xml:"description"`

	lowerTitle, lowerDescription string
}

// Document is one RSS file.
type Document struct {
	Channel string  `xml:"channel>title"`
	Items   []*Item `xml:"channel>item"`
}

// Parse reads an RSS file.
func Parse(text []byte) (*Document, error) {
	d := new(Document)
	if err := xml.NewDecoder(bytes.NewReader(text)).Decode(d); err != nil {
		return nil, err
	}
	for _, item := range d.Items {
		prepare(item)
	}
	return d, nil
}

// Cache holds the newest document of every channel, and by its link every item
// that there ever was.
type Cache struct {
	mu        sync.RWMutex
	documents []*Document
	archive   map[string]*Item
}

// NewCache returns a cache whose archive holds the given items.
func NewCache(old []*Item) *Cache {
	c := &Cache{archive: map[string]*Item{}}
	for _, item := range old {
		c.archive[item.Link] = item
	}
	return c
}

// Store replaces the document in a place, or adds a place.
func (c *Cache) Store(place int, d *Document) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.documents) <= place {
		c.documents = append(c.documents, nil)
	}
	c.documents[place] = d
	for _, item := range d.Items {
		c.archive[item.Link] = item
	}
}

// Result is an item that matched.
type Result struct {
	Channel string
	Item    *Item
}

// Search returns the items that contain the term, in any case.
func (c *Cache) Search(term string) []Result {
	c.mu.RLock()
	documents := append([]*Document(nil), c.documents...)
	c.mu.RUnlock()
	term = normalize(term)
	var found []Result
	for _, d := range documents {
		found = append(found, d.search(term)...)
	}
	return found
}

func (d *Document) search(term string) []Result {
	var found []Result
	for _, item := range d.Items {
		if matches(item, term) {
			found = append(found, Result{d.Channel, item})
		}
	}
	return found
}
