"""Execution traces to test with, and what Go's own packages say of them."""
