//go:build !boxed

package program

import "github.com/zyedidia/generic/heap"

type stop struct{ cell, total int }

func shortest(price []int, width int) int {
	queue := heap.New(func(a, b stop) bool { return a.total < b.total })
	known := make([]int, len(price))
	queue.Push(stop{0, 1})
	for {
		next, ok := queue.Pop()
		if !ok {
			return known[len(known)-1]
		}
		around(next.cell, width, func(cell int) {
			if total := next.total + price[cell]; known[cell] == 0 || total < known[cell] {
				known[cell] = total
				queue.Push(stop{cell, total})
			}
		})
	}
}
