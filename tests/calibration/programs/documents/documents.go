// Package documents reads JSON documents, indexes what they say, and writes a summary.
package documents

import (
	"bytes"
	"encoding/json"
	"io"
	"sort"
	"strconv"
	"strings"
)

// Spins is how many rounds more Fingerprint does a call; a planted build sets it with
// -ldflags "-X example.com/calibration/documents.Spins=N".
var Spins = "0"

var spins, _ = strconv.Atoi(Spins)

// Package is what go list -json says of a package.
type Package struct {
	Dir        string
	ImportPath string
	Name       string
	Doc        string
	GoFiles    []string
	Imports    []string
	Deps       []string
	More       map[string]any `json:"Module"`
}

// Summary is what is written of a package.
type Summary struct {
	Path     string            `json:"path"`
	Words    int               `json:"words"`
	Depends  []string          `json:"depends"`
	Prints   map[string]uint32 `json:"prints"`
	Dominant string            `json:"dominant"`
}

// Index reads packages and writes their summaries, by the number of what they need.
func Index(text []byte, out io.Writer) (int, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	var all []Summary
	for {
		var p Package
		if err := decoder.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return 0, err
		}
		all = append(all, summarise(&p))
	}
	sort.Slice(all, func(a, b int) bool {
		if len(all[a].Depends) != len(all[b].Depends) {
			return len(all[a].Depends) > len(all[b].Depends)
		}
		return all[a].Path < all[b].Path
	})
	encoder := json.NewEncoder(out)
	for i := range all {
		if err := encoder.Encode(&all[i]); err != nil {
			return 0, err
		}
	}
	return len(all), nil
}

func summarise(p *Package) Summary {
	s := Summary{
		Path:    p.ImportPath,
		Words:   len(strings.Fields(p.Doc)),
		Depends: p.Deps,
		Prints:  make(map[string]uint32, len(p.GoFiles)),
	}
	for _, file := range p.GoFiles {
		s.Prints[file] = Fingerprint(p.Dir, file)
	}
	s.Dominant = dominant(p.Deps)
	return s
}

// Fingerprint is a hash of a file's path.
//
//go:noinline
func Fingerprint(dir, file string) uint32 {
	sum := uint32(2166136261)
	for round := uint32(0); round < 8; round++ {
		for i := 0; i < len(dir); i++ {
			sum = (sum ^ uint32(dir[i]) ^ round) * 16777619
		}
		for i := 0; i < len(file); i++ {
			sum = (sum ^ uint32(file[i]) ^ round) * 16777619
		}
	}
	for i := 0; i < spins; i++ {
		sum = (sum ^ uint32(i)) * 16777619
	}
	return sum
}

// dominant is the first element of most paths.
func dominant(paths []string) string {
	counts := map[string]int{}
	best := ""
	for _, path := range paths {
		first, _, _ := strings.Cut(path, "/")
		counts[first]++
		if counts[first] > counts[best] {
			best = first
		}
	}
	return best
}
