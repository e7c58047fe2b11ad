// Resolver asks a name server on the loopback for both addresses of names.
package main

import (
	"fmt"
	"net"
	"time"

	"example.com/field/capture"
	"github.com/miekg/dns"
)

// serve answers each question a millisecond later, with eight addresses.
func serve() (string, error) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, question *dns.Msg) {
		time.Sleep(time.Millisecond)
		answer := new(dns.Msg)
		answer.SetReply(question)
		name := question.Question[0].Name
		for i := byte(0); i < 8; i++ {
			header := dns.RR_Header{Name: name, Rrtype: question.Question[0].Qtype, Class: dns.ClassINET, Ttl: 60}
			if header.Rrtype == dns.TypeA {
				answer.Answer = append(answer.Answer, &dns.A{Hdr: header, A: net.IPv4(10, 0, 0, i)})
			} else {
				answer.Answer = append(answer.Answer, &dns.AAAA{Hdr: header, AAAA: net.IP{0xfd, 15: i}})
			}
		}
		w.WriteMsg(answer)
	})
	server := &dns.Server{PacketConn: conn, Handler: handler}
	go server.ActivateAndServe()
	return conn.LocalAddr().String(), nil
}

type resolver struct {
	client dns.Client
	server string
}

func (r *resolver) ask(name string, kind uint16) error {
	question := new(dns.Msg)
	question.SetQuestion(name, kind)
	answer, _, err := r.client.Exchange(question, r.server)
	if err == nil && len(answer.Answer) != 8 {
		err = fmt.Errorf("%d answers", len(answer.Answer))
	}
	return err
}

func main() {
	capture.Main(func() (capture.Load, error) {
		server, err := serve()
		r := &resolver{server: server}
		turn := make([]int, 4)
		return capture.Load{Workers: len(turn), Step: func(worker int) error {
			turn[worker]++
			return r.addresses(fmt.Sprintf("host-%d.zone-%d.example.com.", turn[worker]%500, worker))
		}}, err
	})
}
