"""Fleets: made ones, real stores, real workers."""
