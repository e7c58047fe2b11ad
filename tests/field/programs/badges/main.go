// Badges draws name badges with a TrueType font.
package main

import (
	"fmt"
	"image"
	"image/color"

	"example.com/field/capture"
	"github.com/golang/freetype/truetype"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/math/fixed"
)

type printer struct {
	font *truetype.Font
	face font.Face
	page *image.RGBA
}

// badge draws the lines of a badge and returns its width.
func (p *printer) badge(lines []string) int {
	clear(p.page.Pix)
	face, widest := p.lettering(), 0
	for i, line := range lines {
		drawer := font.Drawer{Dst: p.page, Src: image.NewUniform(color.Black), Face: face}
		drawer.Dot = fixed.P(8, 28*(i+1))
		drawer.DrawString(line)
		widest = max(widest, drawer.Dot.X.Ceil())
	}
	return widest
}

func main() {
	capture.Main(func() (capture.Load, error) {
		parsed, err := truetype.Parse(goregular.TTF)
		if err != nil {
			return capture.Load{}, err
		}
		printers := make([]*printer, 2)
		turn := make([]int, len(printers))
		for i := range printers {
			printers[i] = &printer{font: parsed, page: image.NewRGBA(image.Rect(0, 0, 480, 180))}
		}
		return capture.Load{Workers: len(printers), Step: func(worker int) error {
			turn[worker]++
			width := printers[worker].badge([]string{
				fmt.Sprintf("Participant number %d", turn[worker]),
				"Conference on Measurement and Control",
				fmt.Sprintf("Hall %d, row %d, seat %d", turn[worker]%7, turn[worker]%31, turn[worker]%97),
				"Please wear this badge at all times",
				"and return it to the desk when you leave",
			})
			if width < 100 {
				return fmt.Errorf("a narrow badge: %d", width)
			}
			return nil
		}}, nil
	})
}
