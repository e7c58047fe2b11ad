//go:build closest

package program

import "github.com/golang/geo/s2"

func (n *network) assign(parcel s2.LatLng) int { return n.closestOpen(parcel) }

// closestOpen returns the open depot that is nearest to a parcel, and of two that are as
// near the one with more neighbours.
func (n *network) closestOpen(parcel s2.LatLng) int {
	at := s2.PointFromLatLng(parcel)
	best, most, near := 0, -2.0, 0
	for i := range n.depots {
		d := &n.depots[i]
		if !d.open {
			continue
		}
		cos, around := at.Dot(d.point.Vector), 0
		if cos+1e-5 < most {
			continue
		}
		for j := range n.depots {
			if n.depots[j].point.Dot(d.point.Vector) > 0.9999 {
				around++
			}
		}
		if cos > most+1e-9 || around > near {
			best, most, near = i, cos, around
		}
	}
	return best
}
