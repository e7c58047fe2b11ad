"""Is the new build slower, by how much, and how sure is that: one answer."""
