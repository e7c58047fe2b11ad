//go:build !each

package main

import "context"

type all struct{}

func with(ctx context.Context) context.Context {
	values := make(map[key]int, len(settings))
	for i, name := range settings {
		values[name] = i
	}
	return context.WithValue(ctx, all{}, values)
}

func setting(ctx context.Context, name key) int {
	values, _ := ctx.Value(all{}).(map[key]int)
	return values[name]
}
