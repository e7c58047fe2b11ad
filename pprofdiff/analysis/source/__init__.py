"""Source of both builds: the cost of each line, what changed, and what carries it."""
