// Package ranking answers requests for the best candidates of a session.
package ranking

import (
	"encoding/json"
	"errors"
	"sync"

	"example.com/workloads/node-pool/tree"
)

const best = 20

// Request adds candidates to a session and asks for its best ones.
type Request struct {
	Session    int              `json:"session"`
	Candidates []tree.Candidate `json:"candidates"`
}

// Response is the answer.
type Response struct {
	Session int              `json:"session"`
	Best    []tree.Candidate `json:"best"`
}

type session struct {
	mu   sync.Mutex
	tree *tree.Tree
}

// Service holds the open sessions.
type Service struct{ sessions []*session }

// New opens n sessions and fills their trees.
func New(n int, score func() float64) *Service {
	s := &Service{}
	for i := 0; i < n; i++ {
		t := tree.New(uint64(i))
		for id := uint64(0); id < tree.Size/2; id++ {
			t.Insert(tree.Candidate{ID: id, Score: score()})
		}
		s.sessions = append(s.sessions, &session{tree: t})
	}
	return s
}

// Handle answers one request. A session whose tree is full starts over with
// the best candidates in a new one.
func (s *Service) Handle(text []byte) ([]byte, error) {
	var request Request
	if err := json.Unmarshal(text, &request); err != nil {
		return nil, err
	}
	if request.Session < 0 || request.Session >= len(s.sessions) {
		return nil, errors.New("no such session")
	}
	found := s.sessions[request.Session].add(request.Candidates)
	return json.Marshal(Response{request.Session, found})
}

func (s *session) add(candidates []tree.Candidate) []tree.Candidate {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range candidates {
		if s.tree.Full() {
			s.restart()
		}
		s.tree.Insert(c)
	}
	return s.tree.Top(make([]tree.Candidate, 0, best), best)
}

func (s *session) restart() {
	kept := s.tree.Top(nil, best)
	s.tree.Release()
	s.tree = tree.New(kept[0].ID)
	for _, c := range kept {
		c.Score /= 2
		s.tree.Insert(c)
	}
}
