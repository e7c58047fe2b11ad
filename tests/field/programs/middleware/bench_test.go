package program

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-chi/chi/v5"
)

// BenchmarkServe serves 200 requests through a router and its middleware.
func BenchmarkServe(b *testing.B) {
	router := chi.NewRouter()
	routes(router)
	request := httptest.NewRequest("GET", "/shops/12/items/99?sort=price", nil)
	request.Header.Set("Authorization", "Bearer 0123456789abcdef0123456789abcdef")
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for n := 0; n < 200; n++ {
			answer := httptest.NewRecorder()
			router.ServeHTTP(answer, request)
			if answer.Code != http.StatusOK {
				b.Fatal(answer.Code)
			}
		}
	}
}
