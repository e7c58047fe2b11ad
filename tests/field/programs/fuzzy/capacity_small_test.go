//go:build !roomy

package program

const capacity = 1024
