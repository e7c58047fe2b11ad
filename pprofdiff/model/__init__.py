"""What was measured: frozen columns of numpy arrays, free of any file format."""
