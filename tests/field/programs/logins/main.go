// Command logins checks passwords at a fixed rate and issues session records.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"time"

	"example.com/field/capture"
	"golang.org/x/crypto/bcrypt"
)

var (
	cost = flag.Int("cost", 8, "cost of bcrypt")
	rate = flag.Int("rate", 20, "logins a second")
)

type session struct {
	User  string
	Token string
	Roles []string
}

func login(hash []byte, user, password string) ([]byte, error) {
	if err := bcrypt.CompareHashAndPassword(hash, []byte(password)); err != nil {
		return nil, err
	}
	s := session{User: user}
	for i := 0; i < 3000; i++ {
		s.Token = fmt.Sprintf("%x", sha256.Sum256([]byte(user+s.Token)))
	}
	for i := 0; i < 200; i++ {
		s.Roles = append(s.Roles, fmt.Sprint("role-", i))
	}
	return json.Marshal(s)
}

func setup() (capture.Load, error) {
	hash, err := bcrypt.GenerateFromPassword([]byte("correct horse"), *cost)
	if err != nil {
		return capture.Load{}, err
	}
	ticks := time.Tick(time.Second / time.Duration(*rate))
	return capture.Load{Workers: 2, Step: func(w int) error {
		<-ticks
		_, err := login(hash, fmt.Sprint("user-", w), "correct horse")
		return err
	}}, nil
}

func main() { capture.Main(setup) }
