"""Inputs as read, grouped by side, and the options for reading them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec import Struct

from pprofdiff.errors import DamagedError, PprofDiffError, UsageError
from pprofdiff.inputs.decompression import DEFAULT_MAX_SIZE, decompress

if TYPE_CHECKING:
    from collections.abc import Callable

    from pprofdiff.kinds import KindId


def silent(_message: str) -> None:
    """Drop the message."""


class Input(Struct, frozen=True):
    """One input of one kind: its bytes as read, or what was scanned from a log.

    A log that holds several kinds yields an input of each; they share `path`.
    """

    argument: str
    """The argument as typed; for a URL, without user name and password."""
    label: str | None
    """The label from `label=path`, else None."""
    path: str
    """The name to show: a path, a URL without password, or `standard input`."""
    data: bytes
    """Bytes as read, still compressed; empty for a kind scanned from logs."""
    kind: KindId
    saved_to: str | None = None
    """Path of the saved copy of a fetched URL; None for local input."""
    scanned: Any = None
    """A log's content of this kind; None for a kind decoded from `data`."""
    of_folder: bool = False
    """Whether the argument was a folder that contains this file."""
    run: int | None = None
    """The run's index among the folders of one side, from 0; None if not in one."""
    unit: str = ""
    """The folder within a run's folder that holds one benchmark's files, or ""."""

    def __repr__(self) -> str:
        return f"Input({self.kind!r}, {self.path!r})"

    def decompressed(self, max_size: int = DEFAULT_MAX_SIZE) -> bytes:
        """Return the bytes that loaders parse; raises what `decompress` raises."""
        return decompress(self.data, self.path, max_size)


class Skipped(NamedTuple):
    """A folder's entry that was left out, and why, in one line that names it.

    `unread` is true for evidence that could not be read, false for unsupported kinds.
    """

    path: str
    reason: str
    unread: bool = False


def not_read(path: str, error: PprofDiffError) -> Skipped:
    """Return the entry for a folder's file that `error` keeps from being read."""
    reason = str(error)
    why = reason.removeprefix(f"{path}: ")
    if isinstance(error, DamagedError) and not why.startswith("damaged"):
        reason = f"{path}: damaged: {why}"
    return Skipped(path, reason, unread=True)


class SideInputs(NamedTuple):
    """The inputs of one side, in the order given."""

    label: str | None
    inputs: tuple[Input, ...]
    skipped: tuple[Skipped, ...] = ()


class ReadOptions(Struct, frozen=True):
    """How to read: limits on URLs and sizes, and where messages go.

    Raises UsageError: a limit is not positive.
    """

    seconds: int | None = None
    """Duration of a live profile in seconds; overrides `?seconds=` in every URL."""
    timeout: float | None = None
    """Timeout of a fetch in seconds; None: its duration × 1.5 + 5, else 60."""
    save_dir: str | None = None
    """Folder for copies of fetched data; None: as `go tool pprof` chooses."""
    max_size: int = DEFAULT_MAX_SIZE
    """Maximum size of one input in bytes, on the wire and decompressed."""
    anonymous: bool = False
    """Remove local paths and hosts, from the names of inputs and inside them."""
    within: str = ""
    """A folder: inputs in it are named by their path relative to it."""
    condense: Literal["no", "short", "full"] = "no"
    """Condense large traces for a short or full report: `Kind.condense`."""
    say: Callable[[str], None] = silent
    """Receives one line at a time, always on the caller's thread."""
    progress: Callable[[str], None] = silent
    """Receives the current activity, possibly from two threads."""

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
