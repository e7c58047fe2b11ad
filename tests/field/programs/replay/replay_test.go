package program

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/ugorji/go/codec"
)

type movement struct {
	Account string
	Amount  int64
	Booked  uint64
	Labels  []string
}

// BenchmarkReplay reads the 1500 movements of a journal from a file.
func BenchmarkReplay(b *testing.B) {
	path := filepath.Join(b.TempDir(), "journal")
	write(b, path)
	handle := &codec.CborHandle{}
	handle.ReaderBufferSize = readerBuffer
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		file, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		decoder, read, sum := codec.NewDecoder(file, handle), 0, int64(0)
		for {
			var m movement
			if err := decoder.Decode(&m); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
			read, sum = read+1, sum+m.Amount
		}
		file.Close()
		if read != 1500 || sum == 0 {
			b.Fatal(read, sum)
		}
	}
}

func write(b *testing.B, path string) {
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	handle := &codec.CborHandle{}
	handle.WriterBufferSize = 1 << 16
	encoder := codec.NewEncoder(file, handle)
	for i := 0; i < 1500; i++ {
		m := movement{"DE0012003400560078", int64(i*7919%100000) - 5000, uint64(i) * 86400, []string{"salary", "monthly"}}
		if err := encoder.Encode(m); err != nil {
			b.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
}
