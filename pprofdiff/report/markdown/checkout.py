"""Which file of the checked-out repository a function is in."""

from __future__ import annotations

import os
import re

from pprofdiff.goruntime.names import is_standard_library, package_of

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
