// Command badgerkv writes and reads records of a badger database.
package main

import (
	"encoding/binary"
	"flag"
	"os"
	"path/filepath"

	"example.com/field/capture"
	"github.com/dgraph-io/badger/v4"
)

var syncWrites = flag.Bool("sync", false, "sync the log at each commit")

func setup() (capture.Load, error) {
	folder := filepath.Join(os.TempDir(), "field-badgerkv")
	os.RemoveAll(folder)
	options := badger.DefaultOptions(folder).WithSyncWrites(*syncWrites).WithLoggingLevel(badger.ERROR).
		WithMemTableSize(8 << 20).WithValueLogFileSize(16 << 20)
	db, err := badger.Open(options)
	if err != nil {
		return capture.Load{}, err
	}
	turn := make([]uint64, 4)
	return capture.Load{Workers: 4, Step: func(worker int) error {
		turn[worker]++
		key := binary.BigEndian.AppendUint64([]byte{byte(worker)}, turn[worker]*2654435761%20011)
		err := db.Update(func(tx *badger.Txn) error { return tx.Set(key, make([]byte, 100)) })
		if err != nil {
			return err
		}
		return db.View(func(tx *badger.Txn) error {
			for i := range uint64(20) {
				key := binary.BigEndian.AppendUint64([]byte{byte(worker)}, (turn[worker]-i%turn[worker])*2654435761%20011)
				item, err := tx.Get(key)
				if err != nil {
					return err
				}
				if err = item.Value(func([]byte) error { return nil }); err != nil {
					return err
				}
			}
			return nil
		})
	}}, nil
}

func main() { capture.Main(setup) }
