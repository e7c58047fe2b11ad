"""Traces of Go 1.22 and later (internal/trace/tracev2): `decode_v2`."""
