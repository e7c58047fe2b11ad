//go:build uri

package main

import (
	"bytes"
	"net/http"
	"path"
	"strconv"
)

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := r.URL.RequestURI()
	if page, ok := s.rendered.Get(key); ok {
		w.Write(page)
		return
	}
	page, err := s.productPage(path.Base(r.URL.Path))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	s.rendered.Add(key, page)
	w.Write(page)
}

func (s *site) productPage(name string) ([]byte, error) {
	id, err := strconv.Atoi(name)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	err = layout.Execute(&page, &s.products[id%len(s.products)])
	return page.Bytes(), err
}
