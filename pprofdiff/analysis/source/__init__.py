"""Go source as text: declarations, extents, what differs between two trees."""
