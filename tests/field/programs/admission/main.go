// Admission decides requests by rules of CEL, as an API server's policy does.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"sync"

	"example.com/field/capture"
	"github.com/google/cel-go/cel"
)

var room = flag.Int("programs", 64, "compiled rules that are kept")

type policy struct {
	env *cel.Env

	mu       sync.Mutex
	compiled map[string]cel.Program
}

// program returns a rule compiled, which it keeps while there is room.
func (p *policy) program(rule string) (cel.Program, error) {
	p.mu.Lock()
	kept, ok := p.compiled[rule]
	p.mu.Unlock()
	if ok {
		return kept, nil
	}
	ast, issues := p.env.Compile(rule)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	made, err := p.env.Program(ast)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.compiled) >= *room {
		for old := range p.compiled {
			delete(p.compiled, old)
			break
		}
	}
	p.compiled[rule] = made
	return made, nil
}

func (p *policy) admits(body []byte, rules []string) (bool, error) {
	var object map[string]any
	if err := json.Unmarshal(body, &object); err != nil {
		return false, err
	}
	for _, rule := range rules {
		program, err := p.program(rule)
		if err != nil {
			return false, err
		}
		out, _, err := program.Eval(map[string]any{"object": object})
		if err != nil || out.Value() != true {
			return false, err
		}
	}
	return true, nil
}

func main() {
	capture.Main(func() (capture.Load, error) {
		env, err := cel.NewEnv(cel.Variable("object", cel.DynType))
		p := &policy{env: env, compiled: map[string]cel.Program{}}
		var rules []string
		for i := 0; i < 32; i++ {
			rules = append(rules, fmt.Sprintf(`object.spec.replicas <= %d && object.spec.containers.all(c, c.image.startsWith("registry.example.com/") && c.name != "forbidden-%d")`, 50+i, i))
		}
		object := map[string]any{"replicas": 3}
		var containers []any
		for i := 0; i < 8; i++ {
			containers = append(containers, map[string]any{"name": fmt.Sprint("c", i), "image": fmt.Sprint("registry.example.com/team/app:", i), "args": []string{"-v", "--listen=:8080", "--workers=4"}})
		}
		object["containers"] = containers
		body, _ := json.Marshal(map[string]any{"kind": "Deployment", "spec": object})
		return capture.Load{Workers: 2, Step: func(worker int) error {
			ok, err := p.admits(body, rules)
			if err == nil && !ok {
				err = fmt.Errorf("not admitted")
			}
			return err
		}}, err
	})
}
