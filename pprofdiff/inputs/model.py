"""The shapes that sources are handed on in: one input, one side, and how to read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pprofdiff.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pprofdiff.inputs.recognition import Kind
    from pprofdiff.loaders.logs import Log

DEFAULT_MAX_SIZE = 1 << 30
"""Bytes that one input may hold, on the wire and decompressed (`--max-size`)."""


def _silent(_message: str) -> None:
    """Drop the message."""


@dataclass(frozen=True, slots=True)
class Source:
    """One input: its bytes as read (still compressed), or the log that it is.

    A log that holds GC lines, benchmark results and a load generator's report, or two
    of them, yields a source for each, which share `path` and `log`.
    """

    argument: str
    """What was typed."""
    label: str | None
    """The name given as `label=path`, else None."""
    path: str
    """Name to show: a path, a URL without password, or `standard input`."""
    data: bytes = field(repr=False)
    """Bytes as read; `content` gives what loaders parse. Empty for a log."""
    kind: Kind
    """Always one of `READABLE`."""
    saved_to: str | None = None
    """Path of the copy of what a URL gave; None for local input."""
    log: Log | None = field(default=None, repr=False)
    """What a log holds; None for a profile or a trace."""

    def content(self, max_size: int = DEFAULT_MAX_SIZE) -> bytes:
        """Return the bytes that loaders parse; raise FormatError as `decompress`."""
        from pprofdiff.inputs.gunzip import decompress

        return decompress(self.data, self.path, max_size)


class Skipped(NamedTuple):
    """A folder's entry that was left out, and why, in one line that names it."""

    path: str
    reason: str


class SideInputs(NamedTuple):
    """One side of the comparison: its inputs in the order given."""

    label: str | None
    sources: tuple[Source, ...]
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read: limits for URLs and sizes, and where messages go.

    Raises
    ------
    UsageError
        A limit is not positive.

    """

    seconds: int | None = None
    """Seconds a live profile covers; overrides `?seconds=` of every URL."""
    timeout: float | None = None
    """Seconds until a fetch is given up; None: its duration × 1.5 + 5, else 60."""
    save_dir: str | None = None
    """Folder for copies of what was fetched; None: as `go tool pprof` chooses."""
    max_size: int = DEFAULT_MAX_SIZE
    """Bytes that one input may hold, on the wire and decompressed."""
    say: Callable[[str], None] = _silent
    """Gets one line at a time, always from the caller's thread."""

    def __post_init__(self) -> None:
        for flag, value in (
            ("-seconds", self.seconds),
            ("-timeout", self.timeout),
            ("--max-size", self.max_size),
        ):
            if value is not None and not value > 0:
                msg = f"{flag} {value}: must be more than 0"
                raise UsageError(msg)


DEFAULT_OPTIONS = ReadOptions()
