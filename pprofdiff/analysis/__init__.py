"""Base and new in, what changed out; knows nothing of how it is shown."""
