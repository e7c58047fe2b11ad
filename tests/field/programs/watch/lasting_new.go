//go:build new

package main

import (
	"context"
	"net/http"
)

// A values-only copy of the context: nothing cancels it.
func lasting(r *http.Request) context.Context { return context.WithoutCancel(r.Context()) }
