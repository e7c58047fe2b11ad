"""Measured rates of what the statistics state, on real captures."""
