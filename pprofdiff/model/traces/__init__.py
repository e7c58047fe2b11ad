"""Execution traces as columns: state changes, and events on the timeline."""
