"""Find the commit that changed a figure, from noisy measurements of a few commits."""
