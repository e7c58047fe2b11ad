"""What the Go runtime's names mean: categories of CPU stacks, names across releases.

The rules are data (`rules.toml`); the modules apply them to names and stacks.
"""
