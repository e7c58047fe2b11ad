"""Start lines of functions."""

from __future__ import annotations

import numpy as np

from pprofdiff.model.profiles.profile import Profile

__all__ = ["first_lines"]


def first_lines(profile: Profile) -> dict[tuple[str, str], int]:
    """Return the start line of each (function, file), if the profile has it."""
    strings, functions = profile.strings, profile.functions
    begins = np.flatnonzero(functions.start_line > 0)
    columns = (functions.name, functions.filename, functions.start_line)
    return {
        (strings[name], strings[file]): line
        for name, file, line in zip(*(c[begins].tolist() for c in columns), strict=True)
    }
