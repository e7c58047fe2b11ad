"""What a report shows: rows that mean something, a module or folder a kind."""
