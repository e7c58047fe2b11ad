"""Tests of the reader for traces of Go 1.22 and later."""
