//go:build base

package main

import "golang.org/x/sync/errgroup"

func signAll(group *errgroup.Group, all [][]byte, made []signed) {
	const part = rows / 2
	for begin := 0; begin < rows; begin += part {
		group.Go(func() error {
			for i := begin; i < begin+part; i++ {
				made[i] = sign(all[i])
			}
			return nil
		})
	}
}
