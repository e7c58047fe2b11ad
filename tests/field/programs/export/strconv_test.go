//go:build !fmt

package program

import "strconv"

func row(s *sale) []string {
	return []string{strconv.Itoa(s.id), s.shop, strconv.FormatFloat(s.amount, 'f', 2, 64), strconv.FormatBool(s.paid)}
}
