//go:build !uri

package main

import (
	"bytes"
	"net/http"
	"path"
	"strconv"
)

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page, ok := s.rendered.Get(r.URL.Path)
	if !ok {
		var err error
		if page, err = s.render(r); err != nil {
			http.NotFound(w, r)
			return
		}
		s.rendered.Add(r.URL.Path, page)
	}
	w.Write(page)
}

func (s *site) render(r *http.Request) ([]byte, error) {
	id, err := strconv.Atoi(path.Base(r.URL.Path))
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	err = layout.Execute(&page, &s.products[id%len(s.products)])
	return page.Bytes(), err
}
