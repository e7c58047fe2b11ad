//go:build !each

package main

import "context"

const recentQuery = `SELECT o.id, o.placed, o.total, l.article, l.count, l.price
	FROM orders o JOIN lines l ON l.order_id = o.id
	WHERE o.customer = ? ORDER BY o.placed DESC, l.id`

func (s *store) orders(ctx context.Context, customer int) ([]order, error) {
	rows, err := s.recent.QueryContext(ctx, customer)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []order
	for rows.Next() {
		var o order
		var l line
		if err := rows.Scan(&o.ID, &o.Placed, &o.Total, &l.Article, &l.Count, &l.Price); err != nil {
			return nil, err
		}
		if n := len(found); n == 0 || found[n-1].ID != o.ID {
			found = append(found, o)
		}
		last := &found[len(found)-1]
		last.Lines = append(last.Lines, l)
	}
	return found, rows.Err()
}
