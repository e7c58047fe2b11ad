"""Source lines of both builds: what each costs, what changed, and what carries it."""
