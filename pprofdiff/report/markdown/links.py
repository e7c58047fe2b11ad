"""Web addresses of lines, functions and commits, from the variables of a CI job.

GitHub Actions: docs.github.com, "Variables reference"; GitLab: docs.gitlab.com,
"Predefined CI/CD variables reference".
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from urllib.parse import quote

from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.rows import first_lines
from pprofdiff.analysis.source.model import ChangedLines
from pprofdiff.goruntime.names import is_standard_library, package_of
from pprofdiff.model.source import Commit, Sources

_PULL = re.compile(r"refs/pull/(\d+)/")
_WEB = re.compile(r"https?://[\w.:/@%+~?=&-]+\Z")
_REVISION = re.compile(r"[0-9a-f]{40,64}\Z")


def lines_of(
    names: Iterable[str], diff: ProfileDiff, sources: Sources | None
) -> Mapping[str, str]:
    """Return the URLs of functions' first lines; functions without one are left out.

    They point to the commits that `sources` names, else to what a CI job checked out.
    """
    urls = {}
    wanted = set(names)
    # By new's profile if it has them, else by base's.
    for side, profile in ((1, diff.new.profile), (0, diff.base.profile)):
        for (name, file), line in first_lines(profile).items():
            if name in wanted:
                wanted.remove(name)
                if url := _first_line(side, name, file, line, sources):
                    urls[name] = url
    return urls


def _first_line(
    side: int, name: str, file: str, line: int, sources: Sources | None
) -> str:
    if sources is not None and sources.revisions is not None:
        text = sources.text(side, name, file)
        commit = sources.revisions[side]
        if text is None or text.origin != "git" or not commit:
            return ""
        return line_url(commit, text.path, line)
    commit = os.environ.get("GITHUB_SHA", "") or os.environ.get("CI_COMMIT_SHA", "")
    # The checkout is new: base's lines are elsewhere.
    if not _REVISION.match(commit) or not side:
        return ""
    path = repository_path(file, name)
    return line_url(commit, path, line) if path else ""


def flame_url(page: str, diff: ProfileDiff, name: str) -> str:
    """Return the URL of a function in the flame graph of any run's page."""
    kind = diff.sample_type.type
    graph = diff.name if diff.name == kind else f"{diff.name}/{kind}"
    return f"{page}#{quote(graph)};f={quote(name)}"


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


# The path of a file in another module, which is not in this one's tree.
_OTHER_MODULE = re.compile(r"@v\d")
_MODULE = re.compile(r"^module[ \t]+\"?([^\s\"]+)", re.MULTILINE)
_MOST_OF_MODULE = 1 << 16
_DEEPEST = 64


def repository_path(file: str, function: str) -> str:
    """Return a function's file relative to the repository, "" if it is not ours.

    `file` is the path in the profile; the working directory is in the repository.
    """
    path, root = _in_tree(file, function), os.environ.get("GITHUB_WORKSPACE", "")
    if not path or not root:
        return path
    rooted = os.path.relpath(os.path.realpath(path), os.path.realpath(root))
    return path if rooted.startswith("..") else rooted


def _in_tree(file: str, function: str) -> str:
    """Return the longest tail of a path that is a file in the working directory.

    Other modules do not count: `server.go` here is not the one of net/http.
    """
    if _OTHER_MODULE.search(file) or not _may_be_ours(package_of(function)):
        return ""
    parts = [part for part in re.split(r"[/\\]", file) if part][-_DEEPEST:]
    if ".." in parts:
        return ""
    tails = (os.path.join(*parts[start:]) for start in range(len(parts)))
    return next(filter(os.path.isfile, tails), "")


def _may_be_ours(package: str) -> bool:
    if is_standard_library(package):
        return False
    module, named = _module(), package.removesuffix("_test")
    return not module or named in ("main", module) or named.startswith(f"{module}/")


def _module() -> str:
    if not os.path.isfile("go.mod"):  # reading from a pipe would block
        return ""
    try:
        with open("go.mod", encoding="utf-8", errors="replace") as file:
            found = _MODULE.search(file.read(_MOST_OF_MODULE))
    except OSError:
        return ""
    return found[1] if found else ""
