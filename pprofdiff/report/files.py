"""Report files: picks the writer by extension, and replaces files atomically."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pprofdiff.errors import FetchError, UsageError
from pprofdiff.units import printable

if TYPE_CHECKING:
    from pprofdiff.report.model import ReportModel

Writer = Callable[["ReportModel"], Any]
"""Returns a report as bytes, or as parts of them if it is large."""


def written_by(module: str, *how: str, name: str = "render") -> Callable[..., Any]:
    """Return a writer that imports its module when it writes; text becomes bytes."""

    def write(report: object) -> Any:  # noqa: ANN401 - bytes, or parts of them
        render = getattr(import_module(f"pprofdiff.report.{module}"), name)
        made = render(report, *how)
        return made.encode() if isinstance(made, str) else made

    return write


# To support another file type, add it here; the longest ending that fits counts.
_WRITERS: dict[str, Writer] = {
    ".brief.json": written_by("brief"),
    ".html": written_by("html.page"),
    ".md": written_by("markdown.comment"),
    ".json": written_by("json.document"),
    ".csv": written_by("csv"),
    ".svg": written_by("image", "svg"),
    ".png": written_by("image", "png"),
    ".pb.gz": written_by("pprof.profile"),
    ".perfetto.json": written_by("perfetto"),
}


def writer_for(path: str) -> Writer:
    """Return a file's writer; raises UsageError for an unknown extension."""
    fitting = [ending for ending in _WRITERS if path.endswith(ending)]
    if not fitting:
        raise UsageError(
            f"-o {printable(path)}: the ending says what to write; there are "
            f"{', '.join(_WRITERS)}"
        )
    return _WRITERS[max(fitting, key=len)]


def github_summary() -> tuple[str, Writer]:
    """Return the path of this step's summary, and a function that appends to it.

    Raises UsageError outside GitHub Actions.
    """
    path = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if not path:
        raise UsageError(
            "--github-summary: GITHUB_STEP_SUMMARY is not set, as it is in a step of "
            "GitHub Actions; -o report.md writes a file"
        )

    def added(report: ReportModel) -> bytes:
        before = b""
        try:
            with suppress(FileNotFoundError), open(path, "rb") as file:
                before = file.read()
        except OSError as error:
            raise FetchError(f"{path}: cannot be read: {error.strerror}") from error
        gap = b"" if not before or before.endswith(b"\n") else b"\n"
        comment: bytes = _WRITERS[".md"](report)
        return before + gap + comment

    return path, added


def replace_file(path: str, data: bytes | Iterable[bytes]) -> None:
    """Write data to a path; an existing file stays until all of it is written.

    A pipe or device is written directly; of a symlink, the target is replaced. Raises
    FetchError if the path cannot be written.
    """
    parts = (data,) if isinstance(data, bytes) else data
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as file:
                file.writelines(parts)
        else:
            _replace(os.path.realpath(path), parts)
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError) and os.path.dirname(path):
            raise FetchError(no_folder(path)) from error
        reason = getattr(error, "strerror", None) or str(error)
        where = printable(path)
        raise FetchError(f"{where}: cannot be written: {reason}") from error


def no_folder(path: str) -> str:
    """Return the error message for a path whose directory does not exist."""
    folder = printable(os.path.dirname(path))
    where = printable(path)
    return f"{where}: cannot be written: there is no folder {folder}; make it first"


def _replace(target: str, parts: Iterable[bytes]) -> None:
    """Write data to a temporary file, then move it into place with the old mode."""
    mode = None
    with suppress(FileNotFoundError):
        mode = os.stat(target).st_mode & 0o777
    # A new name each time: a file that another run left is not in the way, and stays.
    name = f".pprofdiff-{os.urandom(8).hex()}.tmp"
    unfinished = os.path.join(os.path.dirname(target), name)
    try:
        with open(unfinished, "xb") as file:
            file.writelines(parts)
        if mode is not None:
            os.chmod(unfinished, mode)
        os.replace(unfinished, target)
    except BaseException:  # including KeyboardInterrupt
        with suppress(OSError):
            os.unlink(unfinished)
        raise
