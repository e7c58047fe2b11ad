//go:build !reflection

package program

import "github.com/go-faster/jx"

var e jx.Encoder

func encode(points []point) ([]byte, error) {
	e.Reset()
	e.ArrStart()
	for i := range points {
		p := &points[i]
		e.ObjStart()
		e.FieldStart("Name")
		e.Str(p.Name)
		e.FieldStart("Lat")
		e.Float64(p.Lat)
		e.FieldStart("Lon")
		e.Float64(p.Lon)
		e.FieldStart("Visit")
		e.Int(p.Visit)
		e.ObjEnd()
	}
	e.ArrEnd()
	return e.Bytes(), nil
}
