//go:build channel

package main

// table is owned by one goroutine, which is asked over a channel.
type table struct{ asked chan request }

type request struct {
	key    string
	rule   *string
	answer chan string
}

func newTable() *table {
	t := &table{asked: make(chan request)}
	go t.serve()
	return t
}

func (t *table) serve() {
	rules := map[string]string{}
	for r := range t.asked {
		if r.rule != nil {
			rules[r.key] = *r.rule
			r.answer <- ""
			continue
		}
		r.answer <- rules[r.key]
	}
}

func (t *table) rate(key string, seed uint64) uint64 {
	answer := make(chan string, 1)
	t.asked <- request{key: key, answer: answer}
	return evaluate(<-answer, seed)
}

func (t *table) write(key, rule string) {
	answer := make(chan string, 1)
	t.asked <- request{key: key, rule: &rule, answer: answer}
	<-answer
}
