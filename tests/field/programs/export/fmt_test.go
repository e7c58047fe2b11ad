//go:build fmt

package program

import "fmt"

func row(s *sale) []string {
	return []string{fmt.Sprintf("%v", s.id), fmt.Sprintf("%v", s.shop), fmt.Sprintf("%.2f", s.amount), fmt.Sprintf("%v", s.paid)}
}
