"""Tests of `pprofdiff.analysis.gate`."""
