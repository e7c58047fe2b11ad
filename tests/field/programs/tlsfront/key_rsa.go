//go:build !elliptic

package main

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
)

func serverKey() (crypto.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) }
