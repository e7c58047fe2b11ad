//go:build !buffered

package program

import (
	"io"
	"net"
)

func writer(conn net.Conn) io.Writer { return conn }
