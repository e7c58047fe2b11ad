"""Tests of `pprofdiff.analysis.account`."""
