//go:build !anew

package main

import (
	"github.com/golang/freetype/truetype"
	"golang.org/x/image/font"
)

// lettering returns the face, which keeps the glyphs that it drew.
func (p *printer) lettering() font.Face {
	if p.face == nil {
		p.face = truetype.NewFace(p.font, &truetype.Options{Size: 20, Hinting: font.HintingFull})
	}
	return p.face
}
