"""Tests of the reader of GC logs."""
