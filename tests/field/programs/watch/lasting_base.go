//go:build base

package main

import (
	"context"
	"net/http"
)

func lasting(r *http.Request) context.Context { return r.Context() }
