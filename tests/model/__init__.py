"""Tests of `pprofdiff.model`."""
