"""Execution traces: pprofdiff next to ``go tool trace``."""
