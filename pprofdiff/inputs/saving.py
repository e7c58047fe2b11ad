"""Save copies of fetched data: a live profile cannot be taken a second time."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pprofdiff.errors import PprofDiffError
from pprofdiff.inputs.gunzip import DEFAULT_MAX_SIZE, GZIP_MAGIC
from pprofdiff.inputs.intake import take_bytes
from pprofdiff.inputs.recognition import Foreign
from pprofdiff.kinds import KINDS
from pprofdiff.units import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pprofdiff.inputs.model import ReadOptions

_MAX_COPIES = 10_000

_SUFFIX = {kind.id: kind.suffix for kind in KINDS.values()} | {
    Foreign.HTML: ".html",
    Foreign.JSON: ".json",
}


def save(data: bytes, host: str, path: str, options: ReadOptions) -> str | None:
    """Save a copy of `data` and say where; return its path, or None on failure.

    The folder is the first writable one of `options.save_dir`, `$PPROF_TMPDIR`,
    `~/pprof` and the system's temporary folder. The name is `pprof.<host>.<last part of
    path>.NNN.<suffix>`; no file is overwritten.
    """
    stem = f"pprof.{_word(host)}.{_word(path.rstrip('/').rpartition('/')[2])}"
    problem = "no folder to save in"
    for folder in _folders(options.save_dir):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            saved = _write_new(folder, stem, _suffix(data), data)
        except OSError as error:
            problem = f"{printable(str(folder))}: {error.strerror or error}"
            options.say(f"Could not save a copy in {problem}")
            continue
        options.say(f"Saved {printable(str(saved))}")
        return str(saved)
    return None


def _folders(chosen: str | None) -> Iterator[Path]:
    if chosen is not None:
        yield Path(chosen)
    named = os.environ.get("PPROF_TMPDIR")
    if named:
        yield Path(named)
    with contextlib.suppress(RuntimeError):  # no home folder
        yield Path.home() / "pprof"
    import tempfile

    yield Path(tempfile.gettempdir())


def _write_new(folder: Path, stem: str, suffix: str, data: bytes) -> Path:
    for number in range(1, _MAX_COPIES):
        path = folder / f"{stem}.{number:03d}{suffix}"
        try:
            file = path.open("xb")
        except FileExistsError:
            continue
        try:
            with file:
                file.write(data)
        except BaseException:  # interrupts too: leave no partial copy
            path.unlink(missing_ok=True)
            raise
        return path
    raise FileExistsError(None, f"all names up to {stem}.{_MAX_COPIES - 1} are taken")


def _suffix(data: bytes) -> str:
    try:
        kind = take_bytes(data, "", DEFAULT_MAX_SIZE).kinds[0]
        suffix = _SUFFIX.get(kind, ".bin")
    except PprofDiffError:
        suffix = ".bin"
    return f"{suffix}.gz" if data.startswith(GZIP_MAGIC) else suffix


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", text).strip("_")[:60] or "data"
