//go:build each

package main

import "context"

func with(ctx context.Context) context.Context {
	for i, name := range settings {
		ctx = context.WithValue(ctx, name, i)
	}
	return ctx
}

func setting(ctx context.Context, name key) int {
	value, _ := ctx.Value(name).(int)
	return value
}
