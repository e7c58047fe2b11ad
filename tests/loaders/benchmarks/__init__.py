"""Tests of the readers of benchmarks and load generators' summaries."""
