"""What is said of a fleet step by step."""
