r"""Regular expressions of users and profiles, searched within a time limit.

They are read by `regex`, which agrees with Go's syntax
(https://pkg.go.dev/regexp/syntax) on what is typed to find functions; it has no
``\Q…\E`` and no ``(?U)``, reads ``x{,3}`` as a repetition, and folds the case of
ASCII letters only. It backtracks: a pattern such as ``(a|aa)+$`` takes time exponential
in the length of the text, where Go's takes linear time. `Pattern.search` then gives up.

RE2's own Python package (google-re2) has no wheel for musl, the C library of Alpine
Linux and of the image ``golang:alpine``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import lru_cache
from time import thread_time

from pprofdiff.errors import UsageError

Matches = Callable[[str], bool]

# CPU seconds that all searches for one pattern may take. On a function name, a plain
# pattern takes 1 µs and one cubic in its length, such as .*a.*b.*c, 200 µs.
_SECONDS, _SECONDS_A_TEXT = 2.0, 1e-3
# `regex` expands repetitions: 50,000 parts take 0.5 s and 100 MB.
_MOST_PARTS = 50_000
_SHOWN = 80


class Pattern:
    """A regular expression, searched within a time limit.

    `groups` is the number of groups, `names` the number of each named one, from 1.
    """

    def __init__(self, pattern: str, option: str) -> None:
        """Compile a pattern; `option` names it in errors."""
        import regex

        self._option = f"{option}: {_shown(pattern)}"
        counts = re.findall(r"[{,](\d{1,9})(?=[,}])", pattern)
        if math.prod(int(n) or 1 for n in counts) * len(pattern) > _MOST_PARTS:
            raise UsageError(f"{self._option} is too long, or repeats too much")
        try:
            self._compiled = regex.compile(pattern, regex.ASCII)
        except (regex.error, RecursionError, OverflowError, ValueError) as error:
            raise UsageError(
                f"{self._option} is not a regular expression: {error}"
            ) from error
        self.names: dict[str, int] = dict(self._compiled.groupindex)
        self.groups: int = self._compiled.groups
        self._left = _SECONDS

    def search(self, text: str) -> tuple[str | None, ...] | None:
        """Return the first match and its groups, None if there is no match.

        Raises UsageError if searches for the pattern take too long.
        """
        started = thread_time()
        # A timeout of 0 would mean no timeout.
        left = max(self._left + _SECONDS_A_TEXT, _SECONDS_A_TEXT)
        try:
            match = self._compiled.search(text, timeout=left)
        except TimeoutError:
            self._left = 0.0
            raise UsageError(
                f"{self._option} takes too long to search for; give alternatives that "
                "repeat, as in (a|aa)+, no common beginning"
            ) from None
        self._left = min(left - (thread_time() - started), _SECONDS)
        return None if match is None else (match[0], *match.groups())


@lru_cache(64)
def compiled(pattern: str, option: str) -> Pattern:
    """Return a pattern, compiled once; raises what `matcher` raises."""
    return Pattern(pattern, option)


def matcher(pattern: str, option: str) -> Matches:
    """Return a function that reports whether a text contains a match of the pattern.

    Raises UsageError, which names the `option`, if it is no regular expression. The
    returned function raises it if searches take too long.
    """
    search = Pattern(pattern, option).search
    return lambda text: search(text) is not None


def _shown(pattern: str) -> str:
    """Return a pattern as quoted in errors."""
    return repr(pattern if len(pattern) <= _SHOWN else f"{pattern[:_SHOWN]}…")
