"""Tests of `pprofdiff.analysis.source`."""
