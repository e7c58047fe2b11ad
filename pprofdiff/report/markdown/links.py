"""Where lines and commits are on the web, as the variables of a CI job tell.

GitHub Actions: docs.github.com, "Variables reference"; GitLab: docs.gitlab.com,
"Predefined CI/CD variables reference". The lines of a pull request have anchors made of
the SHA-256 of their path.
"""

from __future__ import annotations

import os
import re
from hashlib import sha256
from urllib.parse import quote

from pprofdiff.analysis.source.model import ChangedLines
from pprofdiff.model.source import Commit

__all__ = ["commit_url", "lines_url"]

_PULL = re.compile(r"refs/pull/(\d+)/")
_WEB = re.compile(r"https?://[\w.:/@%+~-]+\Z")


def lines_url(lines: ChangedLines) -> str:
    """Return the page of changed lines, "" where no variable tells.

    In a job of a pull request it is their place in it, else in the build's commit.
    """
    if not lines.build:
        return ""
    github = _github()
    pull = _PULL.match(os.environ.get("GITHUB_REF", ""))
    if github and pull:
        anchor = sha256(lines.path.encode("utf-8", "surrogateescape")).hexdigest()
        side = "L" if lines.gone else "R"
        to = f"-{side}{lines.end}" if lines.end > lines.start else ""
        files = f"{github}/pull/{pull[1]}/files"
        return f"{files}#diff-{anchor}{side}{lines.start}{to}"
    at = lines.build
    path = quote(lines.path.encode("utf-8", "surrogateescape"))
    if github:
        to = f"-L{lines.end}" if lines.end > lines.start else ""
        return f"{github}/blob/{at}/{path}#L{lines.start}{to}"
    if gitlab := _gitlab():
        to = f"-{lines.end}" if lines.end > lines.start else ""
        return f"{gitlab}/-/blob/{at}/{path}#L{lines.start}{to}"
    return ""


def commit_url(commit: Commit) -> str:
    """Return the page of a commit, "" where no variable tells."""
    if github := _github():
        return f"{github}/commit/{commit.id}"
    gitlab = _gitlab()
    return f"{gitlab}/-/commit/{commit.id}" if gitlab else ""


def _github() -> str:
    server = os.environ.get("GITHUB_SERVER_URL", "")
    repository = os.environ.get("GITHUB_REPOSITORY", "")
    return _web(f"{server}/{repository}") if server and repository else ""


def _gitlab() -> str:
    return _web(os.environ.get("CI_PROJECT_URL", ""))


def _web(url: str) -> str:
    """Return a URL that cannot end a Markdown link, "" for others."""
    return url if _WEB.match(url) else ""
