"""Tests of `pprofdiff.model.profiles`."""
