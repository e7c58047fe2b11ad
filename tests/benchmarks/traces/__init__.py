"""Execution traces: pprofdiff beside ``go tool trace``."""
