"""Profiles as columns: single, merged, and their sample types."""
