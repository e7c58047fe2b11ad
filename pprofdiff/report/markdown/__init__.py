"""The pull request comment, and annotations of a workflow."""
