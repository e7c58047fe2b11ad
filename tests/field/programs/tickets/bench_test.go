package program

import (
	"fmt"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
)

type seat struct {
	Row   string  `msgpack:"row"`
	No    int     `msgpack:"no"`
	Price float64 `msgpack:"price"`
	Sold  bool    `msgpack:"sold"`
}

type ticket struct {
	ID    int64  `msgpack:"id"`
	Buyer string `msgpack:"buyer"`
	Seats []seat `msgpack:"seats"`
}

// BenchmarkTickets reads 100 messages and adds up what is sold.
func BenchmarkTickets(b *testing.B) {
	var messages [][]byte
	for i := 0; i < 100; i++ {
		one := ticket{ID: int64(i) << 20, Buyer: fmt.Sprint("buyer-", i)}
		for n := 0; n < 10; n++ {
			one.Seats = append(one.Seats, seat{fmt.Sprint("R", n%7), 1000 + n, 12.5 * float64(n), n%3 > 0})
		}
		message, err := msgpack.Marshal(one)
		if err != nil {
			b.Fatal(err)
		}
		messages = append(messages, message)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		sum := 0.0
		for _, message := range messages {
			one, err := sold(message)
			if err != nil {
				b.Fatal(err)
			}
			sum += one
		}
		if sum == 0 {
			b.Fatal("nothing is sold")
		}
	}
}
