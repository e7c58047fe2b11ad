// Pages is a web service of echo that counts its requests for Prometheus.
package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"example.com/field/capture"
	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
)

type item struct {
	ID    int      `json:"id"`
	Title string   `json:"title"`
	Tags  []string `json:"tags"`
	Price float64  `json:"price"`
}

func main() {
	capture.Main(func() (capture.Load, error) {
		stock := map[string]*item{}
		for i := 0; i < 150000; i++ {
			stock[fmt.Sprint("sku-", i)] = &item{ID: i, Title: fmt.Sprint("a thing ", i), Price: 1.25}
		}
		registry := prometheus.NewRegistry()
		took := prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "request_seconds", Buckets: prometheus.DefBuckets,
		}, []string{"method", "path", "status"})
		registry.MustRegister(took)
		service := echo.New()
		service.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
			return func(c echo.Context) error {
				err := next(c)
				took.WithLabelValues(c.Request().Method, path(c), fmt.Sprint(c.Response().Status)).Observe(0.003)
				return err
			}
		})
		service.GET("/basket/:id", func(c echo.Context) error {
			var items []item
			for i := 0; i < 8; i++ {
				thing := stock[fmt.Sprint("sku-", i*3571)]
				items = append(items, item{i, thing.Title + " for " + c.Param("id"), []string{"red", "blue"}, thing.Price})
			}
			return c.JSON(http.StatusOK, items)
		})
		turn := make([]int, 2)
		return capture.Load{Workers: 2, Step: func(worker int) error {
			turn[worker]++
			url := fmt.Sprintf("/basket/%d-%d", worker, turn[worker]/2)
			response := httptest.NewRecorder()
			service.ServeHTTP(response, httptest.NewRequest("GET", url, nil))
			if response.Code != http.StatusOK {
				return fmt.Errorf("%s: %d", url, response.Code)
			}
			return nil
		}}, nil
	})
}
