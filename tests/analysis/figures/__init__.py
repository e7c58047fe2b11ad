"""Tests of `pprofdiff.analysis.figures`."""
