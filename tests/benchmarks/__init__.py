"""Speed and memory of pprofdiff, measured next to ``go tool pprof``."""
