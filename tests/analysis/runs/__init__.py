"""Tests of `pprofdiff.analysis.runs`."""
