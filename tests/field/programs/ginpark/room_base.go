//go:build base

package main

const room = 2
