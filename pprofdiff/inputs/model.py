"""What arguments name once it is read: inputs, by side, and how to read them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pprofdiff.errors import DamagedError, PprofDiffError, UsageError
from pprofdiff.inputs.gunzip import DEFAULT_MAX_SIZE, decompress

if TYPE_CHECKING:
    from collections.abc import Callable

    from pprofdiff.kinds import KindId


def _silent(_message: str) -> None:
    """Drop the message."""


@dataclass(frozen=True, slots=True)
class Input:
    """One input of one kind: its bytes as read, or what was scanned out of a log.

    A log that holds several kinds, such as GC lines and benchmark results, is an input
    of each; they share `path`.
    """

    argument: str
    """What was typed; of a URL, without user name and password."""
    label: str | None
    """The name given as `label=path`, else None."""
    path: str
    """Name to show: a path, a URL without password, or `standard input`."""
    data: bytes = field(repr=False)
    """Bytes as read, still compressed; empty for a kind that is read out of logs."""
    kind: KindId
    saved_to: str | None = None
    """Path of the copy of what a URL gave; None for local input."""
    scanned: Any = field(default=None, repr=False)
    """What a log holds of this kind; None for a kind that is decoded from `data`."""
    of_folder: bool = False
    """Whether a folder was named, of which this is a file."""
    run: int | None = None
    """Of which folder of one side's folders it is, from 0; None where nothing says."""
    unit: str = ""
    """The folder within a run's folder, which holds what one benchmark left; or ""."""

    def decompressed(self, max_size: int = DEFAULT_MAX_SIZE) -> bytes:
        """Return the bytes that loaders parse; raise FormatError as `decompress`."""
        return decompress(self.data, self.path, max_size)


class Skipped(NamedTuple):
    """A folder's entry that was left out, and why, in one line that names it.

    `unread` tells evidence that could not be read (damaged, too large, no permission)
    from what is of no kind that is read.
    """

    path: str
    reason: str
    unread: bool = False


def not_read(path: str, error: PprofDiffError) -> Skipped:
    """Return the entry of a folder's file that `error` keeps from being read.

    The reason begins with the path, and says "damaged" of what is.
    """
    reason = str(error)
    told = reason.removeprefix(f"{path}: ")
    if isinstance(error, DamagedError) and not told.startswith("damaged"):
        reason = f"{path}: damaged: {told}"
    return Skipped(path, reason, unread=True)


class SideInputs(NamedTuple):
    """What was named for one side: its inputs in the order given."""

    label: str | None
    inputs: tuple[Input, ...]
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
    anonymous: bool = False
    """Leave out local paths and hosts: of names of inputs, and inside them."""
    within: str = ""
    """A folder: inputs in it are called by their path from there."""
    condense: Literal["no", "short", "full"] = "no"
    """Have one large trace at a time in memory, with what the short or the full report
    shows of the others: see `Kind.condense`."""
    say: Callable[[str], None] = _silent
    """Gets one line at a time, always from the caller's thread."""
    progress: Callable[[str], None] = _silent
    """Gets what is being done now; it may be called from two threads."""

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
