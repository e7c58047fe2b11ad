// Package ingest is the HTTP face of the database.
package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"runtime/pprof"

	"example.com/workloads/syncpool/lineproto"
	"example.com/workloads/syncpool/tsdb"
)

// New returns the handler of /write and /query.
func New(db *tsdb.DB) http.Handler {
	h := &handler{db: db}
	mux := http.NewServeMux()
	mux.HandleFunc("/write", labelled("write", h.write))
	mux.HandleFunc("/query", labelled("query", h.query))
	return mux
}

type handler struct {
	db *tsdb.DB
}

func labelled(name string, serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		pprof.Do(r.Context(), pprof.Labels("handler", name), func(context.Context) {
			serve(w, r)
		})
	}
}

// write stores one body: a first line that names the sender, then the points.
func (h *handler) write(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	defer releaseBody(body)
	end := bytes.IndexByte(body, '\n')
	if end < 0 {
		http.Error(w, "no sender", http.StatusBadRequest)
		return
	}
	points, err := lineproto.Parse(body[end+1:])
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	source := keepSource(body[:end])
	h.db.Shard(source).Write(source, points)
	w.WriteHeader(http.StatusNoContent)
}

func (h *handler) query(w http.ResponseWriter, r *http.Request) {
	host := r.URL.Query().Get("host")
	summary := h.db.Shard([]byte(host)).Query("host", host, 2000)
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(summary); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}
