// Tenants is a chi service whose handlers read a request's settings from its context.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"example.com/field/capture"
	"github.com/go-chi/chi/v5"
)

type key string

var settings = func() (all []key) {
	for i := range 48 {
		all = append(all, key(fmt.Sprintf("setting-%02d", i)))
	}
	return all
}()

type shown struct {
	Tenant string         `json:"tenant"`
	Values map[string]int `json:"values"`
}

func show(w http.ResponseWriter, r *http.Request) {
	answer := shown{Tenant: chi.URLParam(r, "tenant"), Values: map[string]int{}}
	for _, name := range settings {
		answer.Values[string(name)] = setting(r.Context(), name)
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(answer)
}

func setup() (capture.Load, error) {
	const workers = 4
	r := chi.NewRouter()
	r.Use(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r.WithContext(with(r.Context())))
		})
	})
	r.Get("/tenants/{tenant}", show)
	server := httptest.NewServer(r)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}}
	return capture.Load{Workers: workers, Step: func(worker int) error {
		answer, err := client.Get(fmt.Sprintf("%s/tenants/%d", server.URL, worker))
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		n, err := io.Copy(io.Discard, answer.Body)
		if err == nil && n < 500 {
			err = fmt.Errorf("%d bytes", n)
		}
		return err
	}}, nil
}

var _ context.Context

func main() { capture.Main(setup) }
