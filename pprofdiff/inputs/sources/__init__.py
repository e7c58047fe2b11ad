"""Where the source of a build is: a git repository, folders, Go's caches."""
