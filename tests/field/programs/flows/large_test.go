//go:build large

package program

import "github.com/google/gopacket/layers"

type flow struct {
	from, to   string
	source     [64]byte
	target     [64]byte
	fromTo     [2]layers.TCPPort
	annotation any
}

func flowOf(ip *layers.IPv4, tcp *layers.TCP) (f flow) {
	copy(f.source[:], ip.SrcIP)
	copy(f.target[:], ip.DstIP)
	f.fromTo = [2]layers.TCPPort{tcp.SrcPort, tcp.DstPort}
	f.annotation = tcp.DstPort
	return f
}
