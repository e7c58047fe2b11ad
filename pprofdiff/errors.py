"""Exceptions; each message is one line that says what to do."""

from __future__ import annotations


class PprofDiffError(Exception):
    """Base class of all errors raised on purpose; the message is one readable line."""


class FormatError(PprofDiffError):
    """The input is damaged or of an unsupported format."""


class DamagedError(FormatError):
    """The input starts like a supported format but is truncated or corrupt."""


class ContradictionError(PprofDiffError):
    """A report contradicts itself: a defect, found if ``PPROFDIFF_CHECK`` is set."""


class ClusterError(PprofDiffError):
    """The workers that read a fleet's profiles are unavailable or did not finish."""


class FetchError(PprofDiffError):
    """A file, folder or URL could not be read."""


class IncompatibleProfilesError(PprofDiffError):
    """The two sides measure different things and cannot be subtracted."""


class MeasureError(PprofDiffError):
    """A side does not build, or what it runs fails.

    `output` holds the first lines that the failed program printed.
    """

    def __init__(self, message: str, output: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.output = output


class UsageError(PprofDiffError):
    """The options contradict each other or name something that does not exist."""
