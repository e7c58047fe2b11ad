"""Output of ``go test -bench`` and of load generators."""
