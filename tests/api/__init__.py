"""Tests of `pprofdiff.api`."""
