// Receipts keeps what tills print in a bbolt database, which syncs each transaction.
package main

import (
	"encoding/binary"
	"flag"
	"os"
	"path/filepath"
	"sync/atomic"

	"example.com/field/capture"
	bolt "go.etcd.io/bbolt"
)

const tills = 8

var each = flag.Bool("each", false, "a transaction for each receipt, not one for those of a moment")

type drawer struct {
	db     *bolt.DB
	number atomic.Uint64
}

// keep returns when a receipt is on the disk.
func (d *drawer) keep(receipt []byte) error {
	key := binary.BigEndian.AppendUint64(nil, d.number.Add(1)*2654435761%50021)
	put := func(tx *bolt.Tx) error {
		return tx.Bucket([]byte("receipts")).Put(key, receipt)
	}
	if *each {
		return d.db.Update(put)
	}
	return d.db.Batch(put)
}

func setup() (capture.Load, error) {
	folder, err := os.MkdirTemp("", "receipts")
	if err != nil {
		return capture.Load{}, err
	}
	db, err := bolt.Open(filepath.Join(folder, "data.db"), 0o600, &bolt.Options{NoFreelistSync: true})
	if err != nil {
		return capture.Load{}, err
	}
	os.RemoveAll(folder)
	db.MaxBatchSize = tills
	err = db.Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucket([]byte("receipts"))
		return err
	})
	d := &drawer{db: db}
	return capture.Load{Workers: tills, Step: func(int) error {
		return d.keep(make([]byte, 100))
	}}, err
}

func main() { capture.Main(setup) }
