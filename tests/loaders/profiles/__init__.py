"""Tests of `pprofdiff.loaders.profiles`."""
