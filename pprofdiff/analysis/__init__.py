"""Compares base and new; knows nothing about how results are shown."""
