"""pprofdiff next to go tool pprof, flag by flag."""
