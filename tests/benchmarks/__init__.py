"""Speed and memory of pprofdiff, measured beside ``go tool pprof``."""
