"""Tests of `pprofdiff.analysis.control`."""
