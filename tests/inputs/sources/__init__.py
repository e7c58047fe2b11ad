"""Tests of `pprofdiff.inputs.sources`."""
