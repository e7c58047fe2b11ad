"""Curves of fleets, and the steps at which they changed."""
