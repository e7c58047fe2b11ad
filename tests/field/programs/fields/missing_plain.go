//go:build !stacks

package main

import "errors"

func missing(name string) error { return errors.New("missing field " + name) }
