//go:build roomy

package program

const capacity = 8192
