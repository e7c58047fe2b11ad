"""Decoders from bytes to the model, one module per format."""
