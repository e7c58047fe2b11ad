"""Web addresses of lines and commits, from the variables of a CI job.

GitHub Actions: docs.github.com, "Variables reference"; GitLab: docs.gitlab.com,
"Predefined CI/CD variables reference".
"""

from __future__ import annotations

import os
import re
from hashlib import sha256
from urllib.parse import quote

from pprofdiff.analysis.source.model import ChangedLines
from pprofdiff.model.source import Commit

_PULL = re.compile(r"refs/pull/(\d+)/")
_WEB = re.compile(r"https?://[\w.:/@%+~?=&-]+\Z")
_REVISION = re.compile(r"[0-9a-f]{40,64}\Z")


def lines_url(lines: ChangedLines) -> str:
    """Return the URL of changed lines in the pull request, else the commit, else ""."""
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
    return line_url(lines.build, lines.path, lines.start, lines.end)


def line_url(commit: str, path: str, start: int, end: int = 0) -> str:
    """Return the URL of lines in a commit's file, "" if no CI variable gives it.

    `path` is relative to the repository. Without a `start`, it is the URL of the file.
    """
    written = quote(path.encode("utf-8", "surrogateescape"))
    last = max(start, end)
    if github := _github():
        files, to = f"{github}/blob", "-L"
    elif gitlab := _gitlab():
        files, to = f"{gitlab}/-/blob", "-"
    else:
        return ""
    through = f"{to}{last}" if last > start else ""
    at = f"#L{start}{through}" if start else ""
    return f"{files}/{commit}/{written}{at}"


def revision() -> str:
    """Return the full id of the commit that a CI job checked out, "" outside a job."""
    commit = os.environ.get("GITHUB_SHA", "") or os.environ.get("CI_COMMIT_SHA", "")
    return commit if _REVISION.match(commit) else ""


def commit_url(commit: Commit) -> str:
    """Return the URL of a commit, "" if no CI variable gives it."""
    if github := _github():
        return f"{github}/commit/{commit.id}"
    gitlab = _gitlab()
    return f"{gitlab}/-/commit/{commit.id}" if gitlab else ""


def _github() -> str:
    server = os.environ.get("GITHUB_SERVER_URL", "")
    repository = os.environ.get("GITHUB_REPOSITORY", "")
    return web(f"{server}/{repository}") if server and repository else ""


def _gitlab() -> str:
    return web(os.environ.get("CI_PROJECT_URL", ""))


def web(url: str) -> str:
    """Return a URL that cannot end a Markdown link, "" for anything else."""
    return url if _WEB.match(url) else ""
