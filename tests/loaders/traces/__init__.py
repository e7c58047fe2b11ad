"""Tests of the reader of Go execution traces."""
