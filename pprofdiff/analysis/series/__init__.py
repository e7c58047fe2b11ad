"""A fleet step by step: the curve of each share, and the steps at which it changed."""
