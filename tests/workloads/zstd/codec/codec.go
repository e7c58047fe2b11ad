// Package codec compresses messages.
package codec
