//go:build new

package main

const room = 0
