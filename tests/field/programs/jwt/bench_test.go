package program

import (
	"crypto/rand"
	"crypto/rsa"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"
)

// BenchmarkTokens checks 20 signed tokens.
func BenchmarkTokens(b *testing.B) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		b.Fatal(err)
	}
	var tokens []string
	for i := 0; i < 20; i++ {
		claims := jwt.RegisteredClaims{Issuer: "shop", ExpiresAt: jwt.NewNumericDate(time.Now().Add(time.Hour))}
		token, err := jwt.NewWithClaims(jwt.SigningMethodRS256, claims).SignedString(key)
		if err != nil {
			b.Fatal(err)
		}
		tokens = append(tokens, token)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for _, token := range tokens {
			_, err := jwt.ParseWithClaims(token, &jwt.RegisteredClaims{}, func(*jwt.Token) (interface{}, error) {
				return &key.PublicKey, nil
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
