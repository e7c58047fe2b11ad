//go:build new

package debuglog

const enabled = false
