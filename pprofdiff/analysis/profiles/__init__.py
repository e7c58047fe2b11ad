"""Compares two profiles of one kind by function, line, stack and runtime category."""
