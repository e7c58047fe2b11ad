"""Two profiles of one kind compared: by function, line, stack and runtime category."""
