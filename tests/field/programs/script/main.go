// Script runs a customer's script over orders with goja, a runtime for each worker.
package main

import (
	"fmt"

	"example.com/field/capture"
	"github.com/dop251/goja"
)

const source = `
function summary(orders) {
	var byCustomer = {};
	orders.forEach(function (order) {
		var name = order.customer.trim().toLowerCase();
		(byCustomer[name] = byCustomer[name] || []).push(order);
	});
	return JSON.stringify(Object.keys(byCustomer).sort().map(function (name) {
		var total = byCustomer[name].reduce(function (sum, o) { return sum + o.price * o.count; }, 0);
		return { name: name.replace(/customer-(\d+)/, "c$1"), total: total.toFixed(2) };
	}));
}
function run(text) { return summary(JSON.parse(text)); }
`

func main() {
	capture.Main(func() (capture.Load, error) {
		program, err := goja.Compile("summary.js", source, true)
		if err != nil {
			return capture.Load{}, err
		}
		orders := "["
		for i := 0; i < 150; i++ {
			orders += fmt.Sprintf(`{"customer":" Customer-%d ","price":%d.25,"count":%d},`, i*7%40, i, i%5+1)
		}
		orders = orders[:len(orders)-1] + "]"
		runs := make([]goja.Callable, 2)
		for i := range runs {
			runtime := goja.New()
			if _, err := runtime.RunProgram(program); err != nil {
				return capture.Load{}, err
			}
			run, _ := goja.AssertFunction(runtime.Get("run"))
			text := runtime.ToValue(orders)
			runs[i] = func(this goja.Value, _ ...goja.Value) (goja.Value, error) { return run(this, text) }
		}
		return capture.Load{Workers: len(runs), Step: func(worker int) error {
			out, err := runs[worker](goja.Undefined())
			if err == nil && len(out.String()) < 500 {
				err = fmt.Errorf("a short summary: %s", out)
			}
			return err
		}}, nil
	})
}
