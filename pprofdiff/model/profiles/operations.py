"""The number of operations that a profile covers, if it is recorded in the profile.

A comment ``operations: N`` or ``operations: N of NAME`` records it, as written by
``pprofdiff measure``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from msgspec.structs import replace

from pprofdiff.model.profiles.profile import Profile

_COMMENT = r"operations: ([1-9]\d{0,17})(?: of (.+))?"


class Operations(NamedTuple):
    """The number of operations, and a name such as a package and its benchmark."""

    number: int
    name: str = ""


def operations_of(profile: Profile) -> Operations | None:
    """Return the operations that the profile covers, None if unknown.

    They are also unknown if several comments disagree.
    """
    found = {
        Operations(int(match[1]), match[2] or "")
        for comment in profile.comments
        if (match := re.fullmatch(_COMMENT, comment))
    }
    return found.pop() if len(found) == 1 else None


def with_operations(profile: Profile, operations: Operations) -> Profile:
    """Return the profile with a comment that records its operations."""
    others = (c for c in profile.comments if not re.fullmatch(_COMMENT, c))
    name = f" of {operations.name}" if operations.name else ""
    said = f"operations: {operations.number}{name}"
    return replace(profile, comments=(*others, said))
