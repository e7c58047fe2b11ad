"""Tests of `pprofdiff.analysis.benchmarks`."""
