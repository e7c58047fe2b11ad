//go:build stacks

package main

import "github.com/pkg/errors"

func missing(name string) error { return errors.New("missing field " + name) }
