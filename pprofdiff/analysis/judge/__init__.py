"""Intervals, significance tests and marks for everything that is compared."""
