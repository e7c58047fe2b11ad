"""Tests of `pprofdiff.identity`."""
