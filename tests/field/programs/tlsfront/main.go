// Command tlsfront is a TLS server that answers short requests of clients which connect anew.
package main

import (
	"crypto"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"time"

	"example.com/field/capture"
	"github.com/go-chi/chi/v5"
)

var clients = flag.Int("clients", 4, "clients at once")

func certificate() (tls.Certificate, *x509.CertPool, error) {
	key, err := serverKey()
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "shop"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		DNSNames: []string{"shop.test"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.(crypto.Signer).Public(), key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, pool, nil
}

func setup() (capture.Load, error) {
	cert, pool, err := certificate()
	if err != nil {
		return capture.Load{}, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return capture.Load{}, err
	}
	r := chi.NewRouter()
	r.Get("/items/{id}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"id":%q,"text":%q}`, chi.URLParam(r, "id"), strings.Repeat("item ", 200))
	})
	server := &http.Server{Handler: r, TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}, SessionTicketsDisabled: true}}
	go server.ServeTLS(listener, "", "")
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "shop.test"},
	}}
	url := "https://" + listener.Addr().String() + "/items/17"
	return capture.Load{Workers: *clients, Step: func(int) error {
		answer, err := client.Get(url)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		_, err = io.Copy(io.Discard, answer.Body)
		return err
	}}, nil
}

func main() { capture.Main(setup) }
