"""Tests of `pprofdiff.analysis.stats`."""
