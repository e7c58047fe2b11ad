package program

import (
	"bufio"
	"io"
	"net"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
)

type sample struct {
	Series int
	Time   int64
	Value  float64
}

// BenchmarkSend sends 200 samples over a connection.
func BenchmarkSend(b *testing.B) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			io.Copy(io.Discard, conn)
		}
	}()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	out := writer(conn)
	encoder := msgpack.NewEncoder(out)
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for n := 0; n < 200; n++ {
			if err := encoder.Encode(&sample{n, int64(i), 1.5}); err != nil {
				b.Fatal(err)
			}
		}
		if buffer, ok := out.(*bufio.Writer); ok {
			if err := buffer.Flush(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
