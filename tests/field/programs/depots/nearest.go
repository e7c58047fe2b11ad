//go:build !closest

package program

import "github.com/golang/geo/s2"

func (n *network) assign(parcel s2.LatLng) int { return n.nearest(parcel) }

// nearest returns the open depot that is nearest to a parcel.
func (n *network) nearest(parcel s2.LatLng) int {
	at, lat := s2.PointFromLatLng(parcel), parcel.Lat.Degrees()
	best, most := 0, -2.0
	for i := range n.depots {
		d := &n.depots[i]
		if !d.open || d.lat > lat+2 || d.lat < lat-2 {
			continue
		}
		if cos := at.Dot(d.point.Vector); cos > most {
			best, most = i, cos
		}
	}
	return best
}
