"""Execution traces as columns: what moved, and what happened beside it."""
