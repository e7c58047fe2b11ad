//go:build !large

package program

import (
	"encoding/binary"

	"github.com/google/gopacket/layers"
)

type flow struct{ addresses, ports uint64 }

func flowOf(ip *layers.IPv4, tcp *layers.TCP) flow {
	return flow{
		uint64(binary.BigEndian.Uint32(ip.SrcIP))<<32 | uint64(binary.BigEndian.Uint32(ip.DstIP)),
		uint64(tcp.SrcPort)<<16 | uint64(tcp.DstPort),
	}
}
