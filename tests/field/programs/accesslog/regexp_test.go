//go:build !hand

package program

import (
	"regexp"
	"strconv"
)

var layout = regexp.MustCompile(`^(\S+) \S+ \S+ \[[^\]]+\] "(\S+) (\S+) [^"]*" (\d+) (\d+)$`)

func parse(line string) (request, bool) {
	m := layout.FindStringSubmatch(line)
	if m == nil {
		return request{}, false
	}
	status, _ := strconv.Atoi(m[4])
	size, _ := strconv.Atoi(m[5])
	return request{m[1], m[2], m[3], status, size}, true
}
