"""Two builds' GC logs compared: which cycles count, and their sums."""
