//go:build !new

package debuglog

const enabled = true
