"""The command line: parse arguments, run, return the exit status; all printing."""
