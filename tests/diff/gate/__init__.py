"""Tests of `pprofdiff.diff.gate`."""
