"""Tests of `pprofdiff.analysis`."""
