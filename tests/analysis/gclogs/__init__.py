"""Tests of `pprofdiff.analysis.gclogs`."""
