"""Bytes in, model out: one module for each format."""
