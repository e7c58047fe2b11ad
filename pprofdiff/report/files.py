"""Report files: the writer that a name's ending asks for, and safe replacement."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from pprofdiff.errors import FetchError, UsageError

if TYPE_CHECKING:
    from pprofdiff.report.model import ReportModel

__all__ = ["replace_file", "writer_for"]

Renderer = Callable[["ReportModel"], bytes]


def _json(report: ReportModel) -> bytes:
    from pprofdiff.report.json import render

    return render(report).encode()


def _csv(report: ReportModel) -> bytes:
    from pprofdiff.report.csv import render

    return render(report).encode()


def _pprof(report: ReportModel) -> bytes:
    from pprofdiff.report.pprof import render

    return render(report)


# The one table to extend for another kind of file.
_RENDERERS: dict[str, Renderer] = {".json": _json, ".csv": _csv, ".pb.gz": _pprof}


def writer_for(path: str) -> Callable[[str, ReportModel], None]:
    """Return what writes a report to a file of this name.

    Raises UsageError for an ending that nothing writes.
    """
    for ending, renderer in _RENDERERS.items():
        if path.endswith(ending):
            return lambda target, report: replace_file(target, renderer(report))
    raise UsageError(
        f"-o {path}: the ending says what to write; there are {', '.join(_RENDERERS)}"
    )


def replace_file(path: str, data: bytes) -> None:
    """Put `data` at `path`, all of it or nothing: what is there stays until then.

    Raises FetchError where the place cannot be written.
    """
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            # A pipe or device, such as /dev/stdout: there is nothing to keep safe.
            with open(path, "wb") as file:
                file.write(data)
            return
        # A link stays a link: what it points to is replaced.
        target = os.path.realpath(path)
        unfinished = f"{target}.{os.getpid()}.tmp"
        try:
            with open(unfinished, "xb") as file:
                file.write(data)
            if os.path.exists(target):
                os.chmod(unfinished, os.stat(target).st_mode & 0o777)
            os.replace(unfinished, target)
        except OSError:
            with suppress(OSError):
                os.unlink(unfinished)
            raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise FetchError(f"{path}: cannot be written: {reason}") from error
