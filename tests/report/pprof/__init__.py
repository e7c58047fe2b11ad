"""Tests of `pprofdiff.report.pprof`."""
