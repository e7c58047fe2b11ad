"""Tests of `pprofdiff.report.sections.profiles`."""
