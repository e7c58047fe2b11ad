// Outbox sends what others hand over, one message after the other, at a limited rate.
package main

import (
	"context"
	"flag"
	"hash/crc32"

	"example.com/field/capture"
	"golang.org/x/time/rate"
)

var limit = flag.Float64("limit", 1000, "messages that may be sent a second")

type message struct {
	body []byte
	sent chan uint32
}

type outbox struct {
	limiter  *rate.Limiter
	messages chan message
}

func (o *outbox) run() {
	for one := range o.messages {
		if err := o.limiter.Wait(context.Background()); err != nil {
			panic(err)
		}
		one.sent <- crc32.ChecksumIEEE(one.body)
	}
}

// send returns when the message was sent.
func (o *outbox) send(body []byte) uint32 {
	sent := make(chan uint32, 1)
	o.messages <- message{body, sent}
	return <-sent
}

func main() {
	capture.Main(func() (capture.Load, error) {
		o := &outbox{rate.NewLimiter(rate.Limit(*limit), 1), make(chan message)}
		go o.run()
		return capture.Load{Workers: 6, Step: func(int) error {
			o.send(make([]byte, 512))
			return nil
		}}, nil
	})
}
