"""Tests of `pprofdiff.diff`."""
