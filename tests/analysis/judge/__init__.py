"""Tests of `pprofdiff.analysis.judge`."""
