package program

import (
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// BenchmarkFlows counts the bytes of each connection in 2 000 packets.
func BenchmarkFlows(b *testing.B) {
	packets := make([][]byte, 2000)
	for i := range packets {
		ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolTCP,
			SrcIP: []byte{10, 0, byte(i % 9), byte(i % 240)}, DstIP: []byte{10, 1, 0, byte(i % 5)}}
		tcp := &layers.TCP{SrcPort: layers.TCPPort(1024 + i%60), DstPort: 9000, ACK: true, Window: 500}
		if err := tcp.SetNetworkLayerForChecksum(ip); err != nil {
			b.Fatal(err)
		}
		out := gopacket.NewSerializeBuffer()
		options := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
		if err := gopacket.SerializeLayers(out, options, ip, tcp, gopacket.Payload(make([]byte, 40+i%100))); err != nil {
			b.Fatal(err)
		}
		packets[i] = out.Bytes()
	}
	var ip layers.IPv4
	var tcp layers.TCP
	var payload gopacket.Payload
	parser := gopacket.NewDecodingLayerParser(layers.LayerTypeIPv4, &ip, &tcp, &payload)
	var decoded []gopacket.LayerType
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		flows := map[flow]int{}
		for _, packet := range packets {
			if err := parser.DecodeLayers(packet, &decoded); err != nil {
				b.Fatal(err)
			}
			flows[flowOf(&ip, &tcp)] += len(payload)
		}
		if len(flows) == 0 {
			b.Fatal("no flow")
		}
	}
}
