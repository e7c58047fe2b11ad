"""The folders that a server may read and write; everything outside is refused."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pprofdiff.errors import UsageError
from pprofdiff.inputs.sources.git import Repository
from pprofdiff.units import printable

_WILD = re.compile(r"[*?\[]")
_STORE = re.compile(r"(?:s3|gs|gcs|abfs|az)://[^?#@*\[]")
"""Stores of objects that may be given as a folder: other URLs could name any host."""


class Folders(NamedTuple):
    """Folders as real paths, and stores of objects as URLs without a trailing slash."""

    local: tuple[str, ...]
    stores: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Sequence[str]) -> Folders:
        """Return the folders given at start; UsageError if one does not exist."""
        stores = [one.rstrip("/") for one in given if _STORE.match(one)]
        local = [one for one in given if not _STORE.match(one)]
        for one in local:
            if not os.path.isdir(one):
                raise UsageError(f"mcp: {printable(one)}: no such folder")
        if not local:
            raise UsageError("mcp: give the folders to work in: pprofdiff mcp DIR…")
        return cls(tuple(os.path.realpath(one) for one in local), tuple(stores))

    def capture(self, text: str) -> str:
        """Return the argument for a file, a folder or a pattern of a fleet's profiles.

        Raises UsageError if a file below it is outside.
        """
        store = next((s for s in self.stores if text.startswith(f"{s}/")), None)
        if store is not None:
            if ".." in text or "::" in text:
                raise UsageError(f"{printable(text)}: must not contain .. or ::")
            return text
        wild = _WILD.search(text)
        if wild is None or os.path.exists(os.path.join(self.local[0], text)):
            return self.inside(text)
        begin = text.rfind("/", 0, wild.start()) + 1
        rest = text[begin:]
        if ".." in rest or "::" in text:
            raise UsageError(f"{printable(text)}: must not contain .. or ::")
        return os.path.join(self.inside(text[:begin] or "."), rest)

    def inside(self, text: str) -> str:
        """Return a path without links; raises UsageError if it leads outside."""
        path = self._checked(text)
        if not os.path.exists(path):
            raise UsageError(f"{printable(text)}: no such file or folder")
        for link in _links(path):
            self._checked(link)
        return path

    def repository(self, text: str) -> str:
        """Return the real path of a folder of a git repository that is inside."""
        path = self._checked(text)
        if not os.path.isdir(path):
            raise UsageError(f"{printable(text)}: no such folder")
        found = Repository(path)
        self._checked(found.top())
        self._checked(found.storage())
        return path

    def output(self, text: str) -> str:
        """Return the real path of a file to write, in a folder that exists."""
        path = self._checked(text)
        if not os.path.isdir(os.path.dirname(path)):
            raise UsageError(f"{printable(text)}: no such folder")
        return path

    def _checked(self, text: str) -> str:
        """Return the real path of a name; raises UsageError if it is outside."""
        if "\0" in text:
            raise UsageError(f"{printable(text)}: no such file")
        path = os.path.realpath(os.path.join(self.local[0], text))
        if not any(os.path.commonpath((path, one)) == one for one in self.local):
            allowed = ", ".join(map(printable, (*self.local, *self.stores)))
            shown = printable(text)
            to = "" if path == text else f" (it is {printable(path)})"
            raise UsageError(f"{shown}{to} is outside of what is allowed: {allowed}")
        return path


def _links(path: str) -> Iterator[str]:
    """Yield the symbolic links below a folder, which walking does not follow."""
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            one = os.path.join(folder, name)
            if os.path.islink(one):
                yield one
