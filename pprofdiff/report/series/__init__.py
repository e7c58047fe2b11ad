"""A fleet step by step: sentences and tables, JSON, CSV, and a page."""
