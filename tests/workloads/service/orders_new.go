//go:build new

package main

// price returns a channel that receives the price of an order.
func price(order string) <-chan int {
	answer := make(chan int)
	go func() {
		answer <- quote(order)
	}()
	return answer
}
