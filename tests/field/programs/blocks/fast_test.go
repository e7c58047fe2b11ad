//go:build !hc

package program

import "github.com/pierrec/lz4/v4"

var packer lz4.Compressor

func pack(block, packed []byte) (int, error) { return packer.CompressBlock(block, packed) }
