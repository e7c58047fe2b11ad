// Command walog appends entries to a write-ahead log of tidwall/wal and reads
// the latest back.
package main

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"

	"example.com/field/capture"
	"github.com/tidwall/wal"
)

var noSync = flag.Bool("nosync", true, "leave out the file sync of each write")

func setup() (capture.Load, error) {
	folder := filepath.Join(os.TempDir(), "field-walog")
	os.RemoveAll(folder)
	log, err := wal.Open(folder, &wal.Options{NoSync: *noSync, SegmentSize: 1 << 20, LogFormat: wal.JSON})
	if err != nil {
		return capture.Load{}, err
	}
	number := uint64(0)
	return capture.Load{Workers: 1, Step: func(int) error {
		number++
		if err := log.Write(number, []byte("entry "+strconv.FormatUint(number, 10))); err != nil {
			return err
		}
		_, err := log.Read(number)
		if err == nil && number%20000 == 0 {
			err = log.TruncateFront(number)
		}
		return err
	}}, nil
}

func main() { capture.Main(setup) }
