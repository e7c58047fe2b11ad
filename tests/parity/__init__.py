"""pprofdiff beside go tool pprof, flag by flag."""
