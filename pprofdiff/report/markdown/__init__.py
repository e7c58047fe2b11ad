"""The comment on a pull request, and annotations of a workflow."""
