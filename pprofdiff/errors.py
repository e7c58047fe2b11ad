"""What can go wrong, each with one line that says what to do.

::

    PprofDiffError                 anything this package raises on purpose
    ├── FormatError                the bytes are not what they should be
    │   └── DamagedError           they begin as they should, and are cut or broken
    ├── ClusterError               the machines that read a fleet did not finish
    ├── FetchError                 a file or URL could not be read
    ├── IncompatibleProfilesError  the two sides cannot be subtracted
    ├── MeasureError               a side cannot be built, or does not run
    └── UsageError                 the request contradicts itself or names nothing
"""

from __future__ import annotations

__all__ = [
    "ClusterError",
    "DamagedError",
    "FetchError",
    "FormatError",
    "IncompatibleProfilesError",
    "MeasureError",
    "PprofDiffError",
    "UsageError",
]


class PprofDiffError(Exception):
    """Base of every error raised on purpose; its text is one line for people."""


class FormatError(PprofDiffError):
    """The input's bytes are damaged, or are of a kind that cannot be read here."""


class DamagedError(FormatError):
    """The bytes begin like an input that can be read here, and are cut or broken."""


class ClusterError(PprofDiffError):
    """The workers that read a fleet's profiles are not to be had, or did not finish."""


class FetchError(PprofDiffError):
    """A file, folder or URL could not be read."""


class IncompatibleProfilesError(PprofDiffError):
    """The two sides measure different things and cannot be subtracted."""


class MeasureError(PprofDiffError):
    """A side cannot be built, or what is measured of it does not run.

    `output` has the first lines of what the failed program said.
    """

    def __init__(self, message: str, output: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.output = output


class UsageError(PprofDiffError):
    """The options contradict each other, or name something that is not there."""
