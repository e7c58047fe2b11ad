//go:build !direct

package program

const readerBuffer = 1 << 16
