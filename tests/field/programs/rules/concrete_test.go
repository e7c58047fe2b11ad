//go:build !generic

package program

func bySample(events []*event, rule *sampled) (total int) {
	for _, e := range events {
		total += rule.score(e)
	}
	return total
}

func byAmount(events []*event, rule *large) (total int) {
	for _, e := range events {
		total += rule.score(e)
	}
	return total
}
