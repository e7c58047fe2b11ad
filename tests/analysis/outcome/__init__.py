"""Tests of `pprofdiff.analysis.outcome`."""
