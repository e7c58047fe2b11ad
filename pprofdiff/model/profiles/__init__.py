"""Profiles as columns: one, several merged, and their sample types."""
