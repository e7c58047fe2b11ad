"""Tests of `pprofdiff.analysis.lines`."""
