//go:build hand

package program

import (
	"strconv"
	"strings"
)

func parse(line string) (read request, ok bool) {
	host, rest, ok := strings.Cut(line, " ")
	if !ok {
		return read, false
	}
	_, rest, ok = strings.Cut(rest, `] "`)
	if !ok {
		return read, false
	}
	call, rest, ok := strings.Cut(rest, `" `)
	if !ok {
		return read, false
	}
	method, path, _ := strings.Cut(call, " ")
	path, _, _ = strings.Cut(path, " ")
	status, size, ok := strings.Cut(rest, " ")
	if !ok {
		return read, false
	}
	read = request{host: host, method: method, path: path}
	read.status, _ = strconv.Atoi(status)
	read.size, _ = strconv.Atoi(size)
	return read, true
}
