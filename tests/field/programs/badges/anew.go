//go:build anew

package main

import (
	"github.com/golang/freetype/truetype"
	"golang.org/x/image/font"
)

// lettering returns a face for one badge.
func (p *printer) lettering() font.Face {
	return truetype.NewFace(p.font, &truetype.Options{Size: 20, Hinting: font.HintingFull})
}
