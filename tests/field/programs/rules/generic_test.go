//go:build generic

package program

type rule interface {
	score(*event) int
}

func by[R rule](events []*event, r R) (total int) {
	for _, e := range events {
		total += r.score(e)
	}
	return total
}

func bySample(events []*event, r *sampled) int { return by(events, r) }

func byAmount(events []*event, r *large) int { return by(events, r) }
