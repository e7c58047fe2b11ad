"""The diff for ``go tool pprof``: a profile that it opens, and its text views."""
