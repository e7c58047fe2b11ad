"""Tests of `pprofdiff.analysis.causes`."""
