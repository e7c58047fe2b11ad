"""The diff as ``go tool pprof`` has it: a profile that it opens, and its text views."""
