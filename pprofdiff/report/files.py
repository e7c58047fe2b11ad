"""Report files: the writer that a name's ending asks for, and safe replacement."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from pprofdiff.errors import FetchError, UsageError
from pprofdiff.units import printable

if TYPE_CHECKING:
    from pprofdiff.report.model import ReportModel

__all__ = [
    "Writer",
    "github_summary",
    "no_folder",
    "renderer_for",
    "replace_file",
    "writer_for",
]

Renderer = Callable[["ReportModel"], bytes]
Writer = Callable[["ReportModel"], bytes | Iterable[bytes]]


def _json(report: ReportModel) -> bytes:
    from pprofdiff.report.json.document import render

    return render(report).encode()


def _csv(report: ReportModel) -> bytes:
    from pprofdiff.report.csv import render

    return render(report).encode()


def _markdown(report: ReportModel) -> bytes:
    from pprofdiff.report.markdown.comment import render

    return render(report).encode()


def _html(report: ReportModel) -> bytes:
    from pprofdiff.report.html.page import render

    return render(report).encode()


def _svg(report: ReportModel) -> bytes:
    from pprofdiff.report.image import render

    return render(report, "svg")


def _png(report: ReportModel) -> bytes:
    from pprofdiff.report.image import render

    return render(report, "png")


def _pprof(report: ReportModel) -> bytes:
    from pprofdiff.report.pprof.profile import render

    return render(report)


def _perfetto(report: ReportModel) -> Iterable[bytes]:
    from pprofdiff.report.perfetto import render

    return render(report)


# What is made part by part, as it may be long; looked at before the table below.
_STREAMED: dict[str, Writer] = {".perfetto.json": _perfetto}

# The one table to extend for another kind of file.
_RENDERERS: dict[str, Renderer] = {
    ".html": _html,
    ".md": _markdown,
    ".json": _json,
    ".csv": _csv,
    ".svg": _svg,
    ".png": _png,
    ".pb.gz": _pprof,
}


def writer_for(path: str) -> Writer:
    """Return what makes a file of this name, at once or part by part.

    Raises UsageError for an ending that nothing writes.
    """
    for ending, writer in _STREAMED.items():
        if path.endswith(ending):
            return writer
    return renderer_for(path)


def renderer_for(path: str) -> Renderer:
    """Return what makes the bytes of a file of this name.

    Raises UsageError for an ending that nothing writes.
    """
    for ending, renderer in _RENDERERS.items():
        if path.endswith(ending):
            return renderer
    known = ", ".join((*_RENDERERS, *_STREAMED))
    raise UsageError(
        f"-o {printable(path)}: the ending says what to write; there are {known}"
    )


def github_summary() -> tuple[str, Renderer]:
    """Return the file of this workflow step's summary, and what adds a report to it.

    Raises UsageError outside GitHub Actions, FetchError where it cannot be read.
    """
    path = os.environ.get("GITHUB_STEP_SUMMARY", "")
    if not path:
        raise UsageError(
            "--github-summary: GITHUB_STEP_SUMMARY is not set, as it is in a step of "
            "GitHub Actions; -o report.md writes a file"
        )

    def added(report: ReportModel) -> bytes:
        before = b""
        with suppress(FileNotFoundError), open(path, "rb") as file:
            before = file.read()
        gap = b"" if not before or before.endswith(b"\n") else b"\n"
        return before + gap + _markdown(report)

    return path, added


def replace_file(path: str, data: bytes | Iterable[bytes]) -> None:
    """Put data at a path: what is there stays until all of it is written.

    Data may be made part by part as it is written.
    A pipe or device, such as /dev/stdout, is written to: there is nothing to keep safe.
    A link stays a link: what it points to is replaced. Nothing unfinished is left,
    whatever ends it. Raises FetchError where it cannot be written.
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
    """Return what is said of a path in a folder that is not there."""
    folder = printable(os.path.dirname(path))
    where = printable(path)
    return f"{where}: cannot be written: there is no folder {folder}; make it first"


def _replace(target: str, parts: Iterable[bytes]) -> None:
    """Write data beside a file, and put it in its place with its mode."""
    mode = None
    with suppress(FileNotFoundError):
        mode = os.stat(target).st_mode & 0o777
    # A new name each time: what another run left behind is neither in the way nor
    # removed.
    name = f".pprofdiff-{os.urandom(8).hex()}.tmp"
    unfinished = os.path.join(os.path.dirname(target), name)
    try:
        with open(unfinished, "xb") as file:
            file.writelines(parts)
        if mode is not None:
            os.chmod(unfinished, mode)
        os.replace(unfinished, target)
    except BaseException:  # an interrupt too
        with suppress(OSError):
            os.unlink(unfinished)
        raise
