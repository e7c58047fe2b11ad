//go:build !timeout

package main

import "time"

const timeout time.Duration = 0
