package program

import (
	"testing"

	"github.com/golang/geo/s2"
)

type depot struct {
	point s2.Point
	lat   float64
	open  bool
}

type network struct{ depots []depot }

// BenchmarkDepots finds a depot and a cell for each of 400 parcels.
func BenchmarkDepots(b *testing.B) {
	var n network
	for i := 0; i < 180; i++ {
		place := s2.LatLngFromDegrees(47+float64(i*37%80)/10, 6+float64(i*61%90)/10)
		n.depots = append(n.depots, depot{s2.PointFromLatLng(place), place.Lat.Degrees(), i%11 > 0})
	}
	parcels := make([]s2.LatLng, 400)
	for i := range parcels {
		parcels[i] = s2.LatLngFromDegrees(47+float64(i*53%800)/100, 6+float64(i*97%900)/100)
	}
	area := map[s2.CellID]int{}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		clear(area)
		for _, parcel := range parcels {
			at := n.assign(parcel)
			area[s2.CellIDFromLatLng(parcel).Parent(11)] += at
			region := s2.CapFromCenterAngle(n.depots[at].point, parcel.Distance(s2.LatLngFromPoint(n.depots[at].point)))
			cover := s2.RegionCoverer{MaxLevel: 10, MaxCells: 2}
			area[cover.FastCovering(region)[0]]++
		}
	}
	if len(area) < 100 {
		b.Fatal(len(area))
	}
}
