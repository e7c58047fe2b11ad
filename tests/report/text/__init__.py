"""Tests of `pprofdiff.report.text`."""
