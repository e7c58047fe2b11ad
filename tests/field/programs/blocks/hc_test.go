//go:build hc

package program

import "github.com/pierrec/lz4/v4"

var packer = lz4.CompressorHC{Level: lz4.Level1}

func pack(block, packed []byte) (int, error) { return packer.CompressBlock(block, packed) }
