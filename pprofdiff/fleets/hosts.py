"""Identify the host of a profile, and the group that a host belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from pprofdiff.analysis.profiles.regexp import compiled
from pprofdiff.errors import UsageError
from pprofdiff.units import printable

GROUPS = 64
"""Up to this many hosts per side stay separate; more are put into this many groups.

The cost of a comparison grows with their number. With 126 degrees of freedom intervals
are hardly wider than with infinitely many: t reaches 1% further than the normal
distribution. Groups of independent hosts are as independent as hosts.
"""

# Path parts KEY=value that usually name a host.
_KEYS = ("host", "hostname", "instance", "pod", "node")
_KEY = re.compile(r"[\w.\-/]+")


@dataclass(frozen=True, slots=True)
class HostRule:
    """How to identify a profile's host.

    `keys` are names of path parts ``KEY=value``, or of sample labels if paths have
    none; `pattern` is a Go regular expression searched for in a path, whose group
    ``host``, or first group, is the name. One of the two is empty. `flag` set it.
    """

    keys: tuple[str, ...] = ()
    pattern: str = ""
    flag: str = "--by"

    def of_path(self, path: str) -> str | None:
        """Return the host that an object's path names, or None."""
        if self.pattern:
            pattern = compiled(self.pattern, self.flag)
            match = pattern.search(path)
            return None if match is None else match[pattern.names.get("host", 1)]
        parts = re.split(r"[/\\]", path)
        for key in self.keys:
            for part in parts:
                name, equals, value = part.partition("=")
                if equals and name == key and value:
                    return value
        return None


def host_rule(
    by: str | None, paths: Iterable[str] = (), flag: str = "--by"
) -> HostRule:
    """Return the rule for identifying hosts.

    `by` is a key, or a pattern with a group; None for a usual key that every one of
    `paths` has. Raises UsageError if it is neither, or no path names a host.
    """
    if by is None:
        rule = HostRule(_KEYS)
        for path in paths:
            if rule.of_path(path) is None:
                raise UsageError(
                    f"{printable(path)}: which host is it from? say --by host, where "
                    "that is a label of samples or a part host=… of paths, or "
                    "--by '/(?P<host>[^/]+)/[^/]+$', a pattern for paths"
                )
        return rule
    if _KEY.fullmatch(by):
        return HostRule((by,))
    if not compiled(by, flag).groups:
        raise UsageError(
            f"{flag} {printable(by)}: a pattern needs a group that is the name, "
            "such as 'host=(?P<host>[^/]+)'"
        )
    return HostRule(pattern=by, flag=flag)


def group_of(host: str) -> str:
    """Return the name of a host's group; the same on every machine."""
    digest = blake2b(host.encode("utf-8", "surrogateescape"), digest_size=8).digest()
    return f"group {int.from_bytes(digest, 'big') % GROUPS}"
