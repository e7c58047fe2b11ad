//go:build new

package main

import "golang.org/x/sync/errgroup"

func signAll(group *errgroup.Group, all [][]byte, made []signed) {
	for i := range all {
		group.Go(func() error {
			made[i] = sign(all[i])
			return nil
		})
	}
}
