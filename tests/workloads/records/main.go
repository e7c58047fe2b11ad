// Command records reads, ranks and writes records of text: strings, JSON, a map, a sort.
//
// One build of it is run many times, to see how much unchanged code differs from run to
// run. -extra FUNCTION makes one of its functions do 10 % more: "distance", which takes
// about half of the CPU, or "slug", which takes a few per cent.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand"
	"sort"
	"strconv"
	"strings"
	"time"

	"example.com/workloads/internal/capture"
)

const (
	workers = 2
	batch   = 40 // records a step
	calls   = 10 // of distance and of slug for each record; 11 with -extra
)

var extra = flag.String("extra", "", "function that does 10 % more: distance or slug")

type record struct {
	ID    int               `json:"id"`
	Title string            `json:"title"`
	Tags  []string          `json:"tags"`
	Attrs map[string]string `json:"attrs"`
	Score float64           `json:"score"`
}

type job struct {
	inputs           [][]byte
	distances, slugs int
}

func main() {
	capture.Main(setup)
}

func setup() (capture.Load, error) {
	j := &job{distances: calls, slugs: calls}
	switch *extra {
	case "":
	case "distance":
		j.distances++
	case "slug":
		j.slugs++
	default:
		return capture.Load{}, errors.New("-extra is distance or slug")
	}
	random := rand.New(rand.NewSource(1))
	for i := 0; i < 500; i++ {
		text, err := json.Marshal(makeRecord(random, i))
		if err != nil {
			return capture.Load{}, err
		}
		j.inputs = append(j.inputs, text)
	}
	return capture.Load{
		Unit:    "records",
		Workers: workers,
		Step:    j.step,
		Trace:   10 * time.Millisecond,
	}, nil
}

func makeRecord(random *rand.Rand, id int) record {
	r := record{ID: id, Attrs: map[string]string{}, Score: random.Float64()}
	var words []string
	for i := 0; i < 12; i++ {
		words = append(words, word(random))
	}
	r.Title = strings.Join(words, " ")
	for i := 0; i < 6; i++ {
		r.Tags = append(r.Tags, word(random))
		r.Attrs[word(random)] = word(random)
	}
	return r
}

func word(random *rand.Rand) string {
	letters := make([]byte, 3+random.Intn(7))
	for i := range letters {
		letters[i] = "aeioubcdlmnrstAERST"[random.Intn(19)]
	}
	return string(letters)
}

func (j *job) step(worker int) (int, error) {
	records := make([]record, batch)
	for i := range records {
		text := j.inputs[(i*7+worker*13)%len(j.inputs)]
		if err := json.Unmarshal(text, &records[i]); err != nil {
			return 0, err
		}
	}
	counts := map[string]int{}
	for i := range records {
		r := &records[i]
		next := &records[(i+1)%len(records)]
		for n := 0; n < j.distances; n++ {
			r.Score += float64(distance(r.Title[n:], next.Title))
		}
		for n := 0; n < j.slugs; n++ {
			r.Score += float64(len(slug(r.Title[n:])))
		}
		countWords(counts, r.Title)
		r.Score += float64(checksum(r.Title, r.Tags)%1000) / 1000
		r.Title = capitalise(r.Title)
	}
	sort.Slice(records, func(a, b int) bool { return records[a].Score < records[b].Score })
	total := 0
	for i := range records {
		text, err := json.Marshal(&records[i])
		if err != nil {
			return 0, err
		}
		total += len(text) + len(describe(&records[i]))
	}
	if total == 0 || len(counts) == 0 {
		return 0, errors.New("no output")
	}
	return len(records), nil
}

// distance is the number of insertions and deletions between two texts, within a band.
func distance(a, b string) int {
	var rows [2][160]int16
	for i := 1; i <= len(a); i++ {
		above, row := &rows[(i-1)%2], &rows[i%2]
		low, high := i-6, i+6
		if low < 1 {
			low = 1
		}
		if high > len(b) {
			high = len(b)
		}
		for k := low; k <= high; k++ {
			if a[i-1] == b[k-1] {
				row[k] = above[k-1]
			} else if above[k] < row[k-1] {
				row[k] = above[k] + 1
			} else {
				row[k] = row[k-1] + 1
			}
		}
	}
	return int(rows[len(a)%2][len(b)])
}

// slug is a text's letters in lower case, joined with hyphens.
func slug(text string) string {
	var out [128]byte
	n := 0
	for i := 0; i < len(text) && n < len(out); i++ {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c == ' ' {
			c = '-'
		}
		out[n] = c
		n++
	}
	return string(out[:n])
}

func countWords(counts map[string]int, text string) {
	for _, w := range strings.Fields(strings.ToLower(text)) {
		counts[w]++
	}
}

func checksum(title string, tags []string) uint32 {
	sum := uint32(2166136261)
	for round := 0; round < 6; round++ {
		for i := 0; i < len(title); i++ {
			sum = (sum ^ uint32(title[i])) * 16777619
		}
	}
	for _, tag := range tags {
		for i := 0; i < len(tag); i++ {
			sum = (sum ^ uint32(tag[i])) * 16777619
		}
	}
	return sum
}

func capitalise(text string) string {
	var out strings.Builder
	start := true
	for _, c := range text {
		if start {
			out.WriteString(strings.ToUpper(string(c)))
		} else {
			out.WriteRune(c)
		}
		start = c == ' '
	}
	return out.String()
}

func describe(r *record) string {
	parts := []string{strconv.Itoa(r.ID), strconv.FormatFloat(r.Score, 'f', 3, 64)}
	for key, value := range r.Attrs {
		parts = append(parts, key+"="+value)
	}
	sort.Strings(parts)
	return fmt.Sprintf("%s: %s", strings.Replace(r.Title, " ", "_", -1), strings.Join(parts, ","))
}
