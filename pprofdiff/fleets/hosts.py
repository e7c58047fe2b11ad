"""Which host a profile is of, and the groups that hosts are gathered into."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from pprofdiff.analysis.profiles.regexp import compiled
from pprofdiff.errors import UsageError
from pprofdiff.units import printable

__all__ = ["GROUPS", "HostRule", "group_of", "host_rule"]

GROUPS = 64
"""Up to so many hosts a side are told apart; more are gathered into so many groups.

What a comparison takes grows with them. 126 degrees of freedom bound a change hardly
less closely than infinitely many do: t reaches 1 % further than the normal
distribution. A group of independent hosts is as independent as a host is.
"""

# Parts of a path, KEY=value, that name a host, as writers of such paths spell them.
_KEYS = ("host", "hostname", "instance", "pod", "node")
_KEY = re.compile(r"[\w.\-/]+")


@dataclass(frozen=True, slots=True)
class HostRule:
    """How a profile's host is told.

    `keys` are names of path parts ``KEY=value``, and of labels that a profile's samples
    may have in their place; `pattern` is a regular expression of Go searched for in a
    path, of which group ``host``, or the first, is the name. One of the two is empty.
    `flag` is what the pattern was typed as.
    """

    keys: tuple[str, ...] = ()
    pattern: str = ""
    flag: str = "--by"

    def of_path(self, path: str) -> str | None:
        """Return the host that an object's path tells, None for none."""
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
    """Return how hosts are told, from what was asked for.

    Parameters
    ----------
    by
        A key, or a pattern with a group; None for a usual key that every path has.
    paths
        The paths of all objects.
    flag
        What `by` was typed as.

    Raises
    ------
    UsageError
        `by` is neither, or it is None and paths do not tell.

    """
    if by is None:
        rule = HostRule(_KEYS)
        for path in paths:
            if rule.of_path(path) is None:
                raise UsageError(
                    f"{printable(path)}: of which host is it? say --by host, where "
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
    """Return the name of the group that a host is of: the same wherever it is asked."""
    digest = blake2b(host.encode("utf-8", "surrogateescape"), digest_size=8).digest()
    return f"group {int.from_bytes(digest, 'big') % GROUPS}"
