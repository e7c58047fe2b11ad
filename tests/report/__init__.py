"""Tests of `pprofdiff.report`."""
