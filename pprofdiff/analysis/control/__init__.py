"""What unchanged code says of work done and of the machine's speed."""
