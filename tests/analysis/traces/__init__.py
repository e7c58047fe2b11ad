"""Tests of what traces add up to, and how two compare."""
