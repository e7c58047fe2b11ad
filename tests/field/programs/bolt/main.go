// Command bolt writes one record a transaction to a bbolt database.
package main

import (
	"encoding/binary"
	"flag"
	"os"
	"path/filepath"

	"example.com/field/capture"
	bolt "go.etcd.io/bbolt"
)

var noSync = flag.Bool("nosync", false, "leave out the file sync of each commit")

func setup() (capture.Load, error) {
	folder, err := os.MkdirTemp("", "bolt")
	if err != nil {
		return capture.Load{}, err
	}
	db, err := bolt.Open(filepath.Join(folder, "data.db"), 0o600, &bolt.Options{NoSync: *noSync, NoFreelistSync: true})
	if err != nil {
		return capture.Load{}, err
	}
	os.RemoveAll(folder)
	err = db.Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucket([]byte("records"))
		return err
	})
	number := uint64(0)
	return capture.Load{Workers: 1, Step: func(int) error {
		number++
		key := binary.BigEndian.AppendUint64(nil, number*2654435761%50021)
		return db.Update(func(tx *bolt.Tx) error {
			return tx.Bucket([]byte("records")).Put(key, make([]byte, 100))
		})
	}}, err
}

func main() { capture.Main(setup) }
