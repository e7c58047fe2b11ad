"""Knowledge of the Go runtime: categories of CPU stacks, names across releases."""
