// Package debuglog writes what the checker does, and counts it.
package debuglog

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync"
	"time"
)

// Fields are the details of one line.
type Fields map[string]any

// Logger writes lines of JSON to a file and counts them by their labels.
type Logger struct {
	out *log.Logger

	mu     sync.Mutex
	counts map[string]int
}

// Open makes a logger for a file.
func Open(path string) (*Logger, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	return &Logger{out: log.New(file, "", log.LstdFlags), counts: map[string]int{}}, nil
}

// Debug writes a line, if the build has debug logging.
func (l *Logger) Debug(message string, fields Fields) {
	if !enabled {
		return
	}
	_, file, line, _ := runtime.Caller(1)
	all := Fields{
		"level":  "debug",
		"time":   time.Now().Format(time.RFC3339Nano),
		"caller": fmt.Sprintf("%s:%d", file, line),
		"msg":    message,
	}
	for name, value := range fields {
		all[name] = value
	}
	text, err := json.Marshal(all)
	if err != nil {
		text = []byte(err.Error())
	}
	l.out.Printf("%s", text)
}

// Count adds one to a counter, if the build has these metrics.
func (l *Logger) Count(name string, labels map[string]string) {
	if !enabled {
		return
	}
	pairs := make([]string, 0, len(labels))
	for label, value := range labels {
		pairs = append(pairs, fmt.Sprintf("%s=%q", label, value))
	}
	sort.Strings(pairs)
	key := name + "{" + strings.Join(pairs, ",") + "}"
	l.mu.Lock()
	l.counts[key]++
	l.mu.Unlock()
}
