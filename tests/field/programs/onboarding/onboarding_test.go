package program

import (
	"fmt"
	"testing"

	"github.com/go-playground/validator/v10"
)

type customer struct {
	Name    string `validate:"required,plain"`
	Mail    string `validate:"required,email"`
	Phone   string `validate:"phone"`
	Account string `validate:"account"`
	Tax     string `validate:"tax"`
}

// BenchmarkOnboarding validates 200 customers by the tags of a struct.
func BenchmarkOnboarding(b *testing.B) {
	v := validator.New()
	rules(v)
	customers := make([]customer, 200)
	for i := range customers {
		customers[i] = customer{
			Name:    fmt.Sprintf("Jean-Paul O'Neill the %dth of Somewhere", i),
			Mail:    fmt.Sprintf("customer.%d@mail-%d.example.com", i, i%7),
			Phone:   fmt.Sprintf("+49 (30) %07d-%d", i*7919, i%10),
			Account: fmt.Sprintf("DE%02d37040044%010d", i%90+10, i*104729),
			Tax:     fmt.Sprintf("DE%09d", i*7919+100),
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		for n := range customers {
			if err := v.Struct(&customers[n]); err != nil {
				b.Fatal(err)
			}
		}
	}
}
