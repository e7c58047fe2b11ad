package program

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"io"
	"net"
	"path/filepath"
	"testing"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

var offered = ssh.Config{Ciphers: []string{"aes256-ctr"}, MACs: []string{"hmac-sha2-256"}}

// BenchmarkBackups stores a file of 1 MiB over SFTP, and reads it again.
func BenchmarkBackups(b *testing.B) {
	client, err := sftp.NewClient(dial(b))
	if err != nil {
		b.Fatal(err)
	}
	content := bytes.Repeat([]byte("all work and no play makes a dull file\n"), 1<<20/39)
	path := filepath.Join(b.TempDir(), "backup.txt")
	var read bytes.Buffer
	b.SetBytes(2 * int64(len(content)))
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		file, err := client.Create(path)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := file.ReadFrom(bytes.NewReader(content)); err != nil {
			b.Fatal(err)
		}
		file.Close()
		if file, err = client.Open(path); err != nil {
			b.Fatal(err)
		}
		read.Reset()
		if _, err := file.WriteTo(&read); err != nil {
			b.Fatal(err)
		}
		file.Close()
		if read.Len() != len(content) {
			b.Fatal(read.Len())
		}
	}
}

// dial connects to a server of the same process.
func dial(b *testing.B) *ssh.Client {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		b.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(b.TempDir(), "sock"))
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		config := &ssh.ServerConfig{Config: offered, NoClientAuth: true}
		config.AddHostKey(signer)
		_, channels, requests, err := ssh.NewServerConn(conn, config)
		if err != nil {
			return
		}
		go ssh.DiscardRequests(requests)
		for asked := range channels {
			channel, wishes, err := asked.Accept()
			if err != nil {
				return
			}
			go func() {
				for wish := range wishes {
					wish.Reply(wish.Type == "subsystem", nil)
				}
			}()
			server, err := sftp.NewServer(channel)
			if err != nil {
				return
			}
			go func() {
				if err := server.Serve(); err != nil && err != io.EOF {
					channel.Close()
				}
			}()
		}
	}()
	config := &ssh.ClientConfig{Config: offered, User: "backup", HostKeyCallback: ssh.FixedHostKey(signer.PublicKey())}
	client, err := ssh.Dial("unix", listener.Addr().String(), config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { client.Close(); listener.Close() })
	return client
}
