// Package texts looks through source text: lines, words, patterns, a table of counts.
package texts

import (
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode"
)

// Spins is how many rounds more bucket does in one of 32 calls; a planted build sets it with
// -ldflags "-X example.com/calibration/texts.Spins=N".
var Spins = "0"

var spins, _ = strconv.Atoi(Spins)

var (
	declared = regexp.MustCompile(`^func (\([^)]*\) )?([A-Za-z_]\w*)\(`)
	linked   = regexp.MustCompile(`https?://[\w./-]+`)
)

// Report is what was seen in a text.
type Report struct {
	Functions []string
	Links     []string
	Frequent  []string
	Buckets   [64]int
	Upper     int
}

// Look reports on a text.
func Look(text string) *Report {
	r := &Report{}
	counts := map[string]int{}
	for _, line := range strings.Split(text, "\n") {
		if found := declared.FindStringSubmatch(line); found != nil {
			r.Functions = append(r.Functions, found[2])
		}
		if strings.Contains(line, "://") {
			r.Links = append(r.Links, linked.FindAllString(line, -1)...)
		}
		for _, word := range strings.FieldsFunc(line, apart) {
			counts[strings.ToLower(word)]++
			r.Buckets[bucket(word)%64]++
			r.Upper += uppers(word)
		}
	}
	r.Frequent = frequent(counts, 50)
	return r
}

func apart(c rune) bool {
	return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
}

// bucket is a hash of a word.
//
//go:noinline
func bucket(word string) uint32 {
	sum := uint32(2166136261)
	for round := uint32(0); round < 4; round++ {
		for i := 0; i < len(word); i++ {
			sum = (sum ^ uint32(word[i]) ^ round) * 16777619
		}
	}
	// One long chain costs what it takes; behind a short one at every call, the CPU does
	// other work meanwhile.
	if sum>>16%32 == 0 {
		for i := 0; i < spins; i++ {
			sum = (sum ^ uint32(i)) * 16777619
		}
	}
	return sum
}

//go:noinline
func uppers(word string) int {
	n := 0
	for _, c := range word {
		if unicode.IsUpper(c) {
			n++
		}
	}
	return n
}

func frequent(counts map[string]int, most int) []string {
	words := make([]string, 0, len(counts))
	for word := range counts {
		words = append(words, word)
	}
	sort.Slice(words, func(a, b int) bool {
		if counts[words[a]] != counts[words[b]] {
			return counts[words[a]] > counts[words[b]]
		}
		return words[a] < words[b]
	})
	if len(words) > most {
		words = words[:most]
	}
	return words
}
