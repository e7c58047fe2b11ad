// Command ginlock is a gin server that counts visits in a table behind a lock,
// and writes a summary of a visitor as JSON; its clients call it in memory.
package main

import (
	"bytes"
	"fmt"
	"net/http"
	"sync"

	"example.com/field/capture"
	"github.com/gin-gonic/gin"
)

type visitor struct {
	Name  string         `json:"name"`
	Pages map[string]int `json:"pages"`
	Total int            `json:"total"`
}

type visits struct {
	mu       sync.Mutex
	visitors map[string]*visitor
}

// written is a response that is kept in memory.
type written struct {
	head http.Header
	body bytes.Buffer
}

func (w *written) Header() http.Header         { return w.head }
func (w *written) Write(b []byte) (int, error) { return w.body.Write(b) }
func (w *written) WriteHeader(int)             {}

func (v *visits) count(name, page string) *visitor {
	who := v.visitors[name]
	if who == nil {
		who = &visitor{Name: name, Pages: map[string]int{}}
		v.visitors[name] = who
	}
	who.Pages[page]++
	who.Total++
	return who
}

func setup() (capture.Load, error) {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	all := &visits{visitors: map[string]*visitor{}}
	r.GET("/visitors/:name/:page", func(c *gin.Context) {
		c.Data(http.StatusOK, "application/json", all.visit(c.Param("name"), c.Param("page")))
	})
	turn := make([]int, 8)
	return capture.Load{Workers: 8, Step: func(worker int) error {
		turn[worker]++
		request, err := http.NewRequest("GET", fmt.Sprintf("/visitors/v%d/p%d", turn[worker]%500, turn[worker]%12), nil)
		if err != nil {
			return err
		}
		r.ServeHTTP(&written{head: http.Header{}}, request)
		return nil
	}}, nil
}

func main() { capture.Main(setup) }
