//go:build after

package program

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"github.com/go-chi/chi/v5"
)

func routes(router chi.Router) {
	router.Use(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "no-store")
			next.ServeHTTP(w, r)
		})
	})
	router.Use(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mac := hmac.New(sha256.New, []byte("secret"))
			mac.Write([]byte(r.Header.Get("Authorization")))
			w.Header().Set("X-Session", hex.EncodeToString(mac.Sum(nil)))
			next.ServeHTTP(w, r)
		})
	})
	router.Use(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			sort := ""
			for try := 0; try < 6; try++ {
				sort = r.URL.Query().Get("sort")
			}
			if sort == "" {
				http.Error(w, "no order", http.StatusBadRequest)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	router.Get("/shops/{shop}/items/{item}", func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(chi.URLParam(r, "shop") + "/" + chi.URLParam(r, "item")))
	})
}
