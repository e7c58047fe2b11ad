"""The gate: rules that a comparison must keep, each judged by its own figure."""
