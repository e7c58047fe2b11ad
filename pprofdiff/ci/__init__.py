"""Workflows that measure each pull request and comment on it: ``pprofdiff ci``."""

from __future__ import annotations

from pathlib import Path

NAMES = ("github", "github-forks", "github-forks-comment", "gitlab")
"""GitHub, GitHub with pull requests from forks (two workflows), and GitLab."""


def workflow(name: str) -> str:
    """Return the YAML of one of `NAMES`, which begins with the path to keep it at."""
    return (Path(__file__).parent / f"{name}.yml").read_text("utf-8")
