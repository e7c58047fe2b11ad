//go:build timeout

package main

import "time"

const timeout = 5 * time.Second
