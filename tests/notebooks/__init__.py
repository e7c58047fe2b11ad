"""The notebooks themselves, run as a reader runs them."""
