//go:build each

package main

import "context"

const recentQuery = `SELECT o.id, o.placed, o.total FROM orders o WHERE o.customer = ? ORDER BY o.placed DESC`

func (s *store) orders(ctx context.Context, customer int) ([]order, error) {
	rows, err := s.recent.QueryContext(ctx, customer)
	if err != nil {
		return nil, err
	}
	var found []order
	for rows.Next() {
		var o order
		if err := rows.Scan(&o.ID, &o.Placed, &o.Total); err != nil {
			rows.Close()
			return nil, err
		}
		found = append(found, o)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for i := range found {
		if found[i].Lines, err = s.linesOf(ctx, found[i].ID); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (s *store) linesOf(ctx context.Context, id int64) ([]line, error) {
	rows, err := s.lines.QueryContext(ctx, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []line
	for rows.Next() {
		var l line
		if err := rows.Scan(&l.Article, &l.Count, &l.Price); err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, rows.Err()
}
