"""Tests of `pprofdiff.report.sections`."""
