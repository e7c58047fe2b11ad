"""Tests of `pprofdiff.loaders`."""
