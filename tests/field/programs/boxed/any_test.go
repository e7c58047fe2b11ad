//go:build boxed

package program

import "github.com/emirpasic/gods/queues/priorityqueue"

type stop struct{ cell, total int }

func shortest(price []int, width int) int {
	queue := priorityqueue.NewWith(func(a, b interface{}) int { return a.(stop).total - b.(stop).total })
	known := make([]int, len(price))
	queue.Enqueue(stop{0, 1})
	for {
		value, ok := queue.Dequeue()
		if !ok {
			return known[len(known)-1]
		}
		next := value.(stop)
		around(next.cell, width, func(cell int) {
			if total := next.total + price[cell]; known[cell] == 0 || total < known[cell] {
				known[cell] = total
				queue.Enqueue(stop{cell, total})
			}
		})
	}
}
