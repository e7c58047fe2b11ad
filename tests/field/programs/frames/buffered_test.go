//go:build buffered

package program

import (
	"bufio"
	"io"
	"net"
)

func writer(conn net.Conn) io.Writer { return bufio.NewWriterSize(conn, 16<<10) }
