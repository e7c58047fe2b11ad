"""The section on execution traces."""
