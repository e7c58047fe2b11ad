"""The gate: rules that a comparison must pass, each judged by its own figure."""
