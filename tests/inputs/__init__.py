"""Tests of `pprofdiff.inputs`."""
