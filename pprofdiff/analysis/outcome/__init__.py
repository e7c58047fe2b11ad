"""The verdict: is new slower, by how much, and is that significant."""
