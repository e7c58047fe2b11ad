"""Tests of `pprofdiff.report.sections.traces`."""
