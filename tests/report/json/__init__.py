"""Tests of `pprofdiff.report.json`."""
