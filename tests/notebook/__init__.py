"""What Jupyter shows."""
