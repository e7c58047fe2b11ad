"""Tests of `pprofdiff.goruntime`."""
