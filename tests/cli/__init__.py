"""Tests of `pprofdiff.cli`."""
