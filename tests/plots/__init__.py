"""Tests of `pprofdiff.plots`."""
