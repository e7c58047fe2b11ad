package program

import (
	"strings"
	"testing"

	"github.com/kljensen/snowball/english"
)

const text = `The committee considered whether the proposed regulations were
sufficiently precise and whether manufacturers had been given reasonable opportunities
to demonstrate conformity before the inspections began. Several delegations objected
because the measurements depended on instruments that are no longer produced and on
laboratories whose accreditation expired during the consultation. After a lengthy
discussion about responsibilities, liabilities and insurance the chairman suggested
that the amendments be circulated again, that interested organizations be invited
to comment in writing and that an extraordinary session be held if necessary.`

// BenchmarkStems counts the stems of a text.
func BenchmarkStems(b *testing.B) {
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		counts := map[string]int{}
		for _, word := range strings.Fields(text) {
			counts[english.Stem(strings.Trim(word, ",."), false)]++
		}
		if len(counts) < 50 {
			b.Fatal(counts)
		}
	}
}
