"""Tests of `pprofdiff.report.markdown`."""
