"""Read traces of Go 1.22 and later (internal/trace/tracev2): `decode.decode_v2`."""
