"""Tests of the reader for traces of Go 1.11 to 1.21."""
