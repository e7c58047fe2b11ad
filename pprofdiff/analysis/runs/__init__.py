"""What is known about each run by itself, and which runs are outliers."""
