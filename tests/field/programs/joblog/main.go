// Joblog runs small jobs and logs each with logrus, into a file behind its one lock.
package main

import (
	"crypto/sha256"
	"flag"
	"os"
	"path/filepath"

	"example.com/field/capture"
	"github.com/sirupsen/logrus"
)

var synced = flag.Bool("synced", false, "open the log so that each write reaches the disk")

type runner struct{ log *logrus.Logger }

func (r *runner) job(worker int) {
	input := make([]byte, 4096)
	for turn := range 40 {
		sum := sha256.Sum256(input)
		copy(input[turn*32:], sum[:])
	}
	r.log.WithFields(logrus.Fields{"worker": worker, "first": input[0]}).Info("the job is done")
}

func setup() (capture.Load, error) {
	folder, err := os.MkdirTemp("", "joblog")
	if err != nil {
		return capture.Load{}, err
	}
	how := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if *synced {
		how |= os.O_SYNC
	}
	file, err := os.OpenFile(filepath.Join(folder, "jobs.log"), how, 0o600)
	if err != nil {
		return capture.Load{}, err
	}
	os.RemoveAll(folder)
	log := logrus.New()
	log.Out, log.Formatter = file, &logrus.JSONFormatter{}
	r := &runner{log}
	return capture.Load{Workers: 6, Step: func(worker int) error {
		r.job(worker)
		return nil
	}}, nil
}

func main() { capture.Main(setup) }
