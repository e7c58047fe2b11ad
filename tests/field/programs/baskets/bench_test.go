package program

import (
	"fmt"
	"strings"
	"testing"

	"example.com/acme/fastjson"
)

// message returns an order of 40 lines as JSON.
func message(n int) string {
	var s strings.Builder
	fmt.Fprintf(&s, `{"order":%d,"customer":{"name":"Customer %d","country":"DE"},"lines":[`, n, n)
	for i := 0; i < 40; i++ {
		if i > 0 {
			s.WriteString(",")
		}
		fmt.Fprintf(&s, `{"article":"A-%d","description":"an article with \"quotes\" in size %d","quantity":%d,"price":%d.25,"taxed":true}`, i, i, i%7+1, i*3)
	}
	s.WriteString("]}")
	return s.String()
}

// BenchmarkOrders reads 20 orders and adds up what they cost.
func BenchmarkOrders(b *testing.B) {
	var messages []string
	for n := 0; n < 20; n++ {
		messages = append(messages, message(n))
	}
	var p fastjson.Parser
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for _, text := range messages {
			v, err := p.Parse(text)
			if err != nil {
				b.Fatal(err)
			}
			if worth(v) <= 0 {
				b.Fatal("nothing")
			}
		}
	}
}
