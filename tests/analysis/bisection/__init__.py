"""Tests of the search over commits."""
