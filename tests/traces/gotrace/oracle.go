// These files are built into cmd/trace with go build -overlay (see oracle.py): code
// outside GOROOT must not import internal/trace. Their init runs before main; with no
// "oracle" as first word the program is go tool trace as it always was.

package main

import (
	"encoding/json"
	"fmt"
	"internal/trace"
	"internal/trace/raw"
	"io"
	"os"
)

func init() {
	if len(os.Args) < 3 || os.Args[1] != "oracle" {
		return
	}
	var err error
	switch what := os.Args[2]; what {
	case "encode":
		err = oracleEncode(os.Stdin, os.Stdout)
	case "summary", "transitions", "mutators", "series":
		err = oracleTell(what, os.Args[3])
	default:
		err = fmt.Errorf("no such question: %s", what)
	}
	logAndDie(err)
}

// oracleEncode turns the text form of a trace into bytes, with Go's own writer.
func oracleEncode(in io.Reader, out io.Writer) error {
	text, err := raw.NewTextReader(in)
	if err != nil {
		return err
	}
	binary, err := raw.NewWriter(out, text.Version())
	if err != nil {
		return err
	}
	for {
		event, err := text.ReadEvent()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := binary.WriteEvent(event); err != nil {
			return err
		}
	}
}

// oracleTell prints, as JSON, what is asked of the trace at a path.
func oracleTell(what, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	var told any
	switch what {
	case "summary":
		told, err = oracleSummary(file)
	case "transitions":
		told, err = oracleTransitions(file)
	default:
		told, err = oracleMutators(file, what == "series")
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(told)
}

// oracleEach calls a function with every ordered event of a trace. The first result is
// what stopped the reader before the end of the trace, if anything did.
func oracleEach(in io.Reader, see func(*trace.Event)) (stopped, err error) {
	reader, err := trace.NewReader(in)
	if err != nil {
		return nil, err
	}
	for {
		event, err := reader.ReadEvent()
		if err == io.EOF {
			return nil, nil
		}
		if err != nil {
			return err, nil
		}
		see(&event)
	}
}

type oracleFrame struct {
	Func string `json:"func"`
	File string `json:"file"`
	Line uint64 `json:"line"`
	PC   uint64 `json:"pc"`
}

// oracleStacks numbers stacks by their frames; number 0 is no stack.
type oracleStacks struct {
	known  map[trace.Stack]int
	byText map[string]int
	List   [][]oracleFrame
}

func newOracleStacks() *oracleStacks {
	return &oracleStacks{
		known:  map[trace.Stack]int{trace.NoStack: 0},
		byText: map[string]int{"": 0},
		List:   [][]oracleFrame{{}},
	}
}

func (s *oracleStacks) number(stack trace.Stack) int {
	if number, ok := s.known[stack]; ok {
		return number
	}
	text := stack.String()
	number, ok := s.byText[text]
	if !ok {
		number = len(s.List)
		s.byText[text] = number
		frames := []oracleFrame{}
		for f := range stack.Frames() {
			frames = append(frames, oracleFrame{f.Func, f.File, f.Line, f.PC})
		}
		s.List = append(s.List, frames)
	}
	s.known[stack] = number
	return number
}

// oracleScope names a resource in words and with its number, -1 if it has none.
func oracleScope(r trace.ResourceID) (string, int64) {
	switch r.Kind {
	case trace.ResourceGoroutine:
		return "goroutine", int64(r.Goroutine())
	case trace.ResourceProc:
		return "proc", int64(r.Proc())
	case trace.ResourceThread:
		return "thread", int64(r.Thread())
	}
	return "global", -1
}
