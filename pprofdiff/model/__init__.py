"""Measurements as frozen columns of numpy arrays, independent of file formats."""
