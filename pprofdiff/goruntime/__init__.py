"""Knowledge of the Go runtime: categories of CPU stacks, names across releases.

The rules are data (`rule_table.py`); the modules apply them to names and stacks.
"""
