// Broker passes orders between clients through a NATS server of the same process.
package main

import (
	"encoding/json"
	"fmt"
	"time"

	"example.com/field/capture"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

type order struct {
	Number int
	Items  []string
	Total  float64
}

func main() {
	capture.Main(func() (capture.Load, error) {
		s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true})
		if err != nil {
			return capture.Load{}, err
		}
		go s.Start()
		if !s.ReadyForConnections(5 * time.Second) {
			return capture.Load{}, fmt.Errorf("the server does not answer")
		}
		answering, err := nats.Connect(s.ClientURL())
		if err != nil {
			return capture.Load{}, err
		}
		_, err = answering.QueueSubscribe("orders.*", "prices", func(m *nats.Msg) {
			var o order
			if json.Unmarshal(m.Data, &o) == nil {
				o.Total = float64(len(o.Items)) * 9.5
				answer, _ := json.Marshal(o)
				m.Respond(answer)
			}
		})
		if err == nil {
			err = answering.Flush()
		}
		clients := make([]*nats.Conn, 4)
		for i := range clients {
			if clients[i], err = nats.Connect(s.ClientURL()); err != nil {
				return capture.Load{}, err
			}
		}
		turn := make([]int, len(clients))
		return capture.Load{Workers: len(clients), Step: func(worker int) error {
			turn[worker]++
			asked, err := json.Marshal(order{Number: turn[worker], Items: []string{"bolt", "nut", "washer", "spring"}})
			if err != nil {
				return err
			}
			answer, err := clients[worker].Request(fmt.Sprintf("orders.%d", worker), asked, 2*time.Second)
			var o order
			if err == nil {
				err = json.Unmarshal(answer.Data, &o)
			}
			if err == nil && o.Total != 38 {
				err = fmt.Errorf("a total of %f", o.Total)
			}
			return err
		}}, err
	})
}
