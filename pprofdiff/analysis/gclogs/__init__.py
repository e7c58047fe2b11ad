"""Two builds' GC logs compared: which collections count, and what they add up to."""
