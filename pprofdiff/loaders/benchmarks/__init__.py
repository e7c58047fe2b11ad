"""What ``go test -bench`` and load generators print."""
