//go:build !cached

package program

import "github.com/gobwas/glob"

func match(rule, path string) bool { return glob.MustCompile(rule, '/').Match(path) }
