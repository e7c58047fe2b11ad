"""Tests of `pprofdiff.analysis.profiles`."""
