//go:build direct

package program

const readerBuffer = 0
