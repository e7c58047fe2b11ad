"""Read the inputs of each side: files, folders, standard input and URLs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pprofdiff.errors import FetchError, FormatError, PprofDiffError, UsageError
from pprofdiff.inputs.intake import take, take_bytes
from pprofdiff.inputs.model import (
    DEFAULT_OPTIONS,
    Input,
    SideInputs,
    Skipped,
    not_read,
)
from pprofdiff.inputs.places import (
    Place,
    Sort,
    common_label,
    locate,
    unreadable,
    without_login,
)
from pprofdiff.inputs.recognition import Foreign, refusal
from pprofdiff.units import printable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pprofdiff.inputs.intake import Intake
    from pprofdiff.inputs.model import ReadOptions


def read(
    arguments: Sequence[str], options: ReadOptions = DEFAULT_OPTIONS
) -> SideInputs:
    """Read the inputs of one side; see `read_sides`."""
    return _read_all((arguments,), options)[0]


def read_sides(
    base: Sequence[str], new: Sequence[str], options: ReadOptions = DEFAULT_OPTIONS
) -> tuple[SideInputs, SideInputs]:
    """Read the inputs of both sides; all URLs are fetched at once.

    An argument is a file, a folder (every file directly in it, by name), a URL, a
    `host:port`, `-` for standard input, or any of these after `label=`. Local inputs
    are read first, so that a mistyped name costs no 30 s fetch. A folder's entries that
    are unsupported, damaged or unreadable are listed in `SideInputs.skipped`.

    Raises FetchError: a file, folder or URL does not exist or cannot be read. Raises
    FormatError: an input is of an unsupported kind, is damaged, or exceeds
    `options.max_size`. Raises UsageError: a side has no input or two labels, or
    standard input is given twice.
    """
    base_inputs, new_inputs = _read_all((base, new), options)
    return base_inputs, new_inputs


def _read_all(
    sides: Sequence[Sequence[str]], options: ReadOptions
) -> tuple[SideInputs, ...]:
    places = [[locate(argument) for argument in side] for side in sides]
    if not all(places):
        msg = "no input is given; each side needs a file, a folder, a URL or -"
        raise UsageError(msg)
    labels = [common_label(place.label for place in side) for side in places]
    every = [place for side in places for place in side]
    if sum(place.sort is Sort.STDIN for place in every) > 1:
        msg = "-: standard input can be read only once"
        raise UsageError(msg)
    local = [
        None if place.sort is Sort.URL else _read_local(place, options)
        for place in every
    ]
    fetched = iter(_read_urls([p for p in every if p.sort is Sort.URL], options))
    parts = iter([next(fetched) if part is None else part for part in local])
    return tuple(
        _joined(label, [next(parts) for _ in side])
        for label, side in zip(labels, places, strict=True)
    )


def _joined(label: str | None, parts: Sequence[SideInputs]) -> SideInputs:
    return SideInputs(
        label,
        tuple(one for part in parts for one in part.inputs),
        tuple(entry for part in parts for entry in part.skipped),
    )


def _read_local(place: Place, options: ReadOptions) -> SideInputs:
    if place.sort is Sort.FOLDER:
        return _read_folder(place, options)
    if place.sort is Sort.STDIN:
        name, intake = "standard input", _read_stdin(options.max_size)
    else:
        name = printable(place.target)
        intake = _read_file(place.target, options.max_size)
    return SideInputs(place.label, _inputs(place, name, intake))


def _read_urls(places: Sequence[Place], options: ReadOptions) -> list[SideInputs]:
    if not places:
        return []
    from pprofdiff.inputs.fetch import fetch_all, request_for

    fetched = fetch_all([request_for(p.target, options) for p in places], options)
    sides = []
    for place, copy in zip(places, fetched, strict=True):
        url = copy.request.shown
        found = _inputs(place, url, take_bytes(copy.data, url, options.max_size))
        argument, saved = without_login(place.argument), copy.saved_to
        inputs = (replace(one, argument=argument, saved_to=saved) for one in found)
        sides.append(SideInputs(place.label, tuple(inputs)))
    return sides


def _inputs(place: Place, name: str, intake: Intake) -> tuple[Input, ...]:
    inputs = tuple(
        Input(
            place.argument,
            place.label,
            name,
            intake.data,
            kind,
            scanned=intake.scanned.get(kind),
        )
        for kind in intake.kinds
        if not isinstance(kind, Foreign)
    )
    if not inputs:
        raise refusal(intake.kinds[0], name, intake.start)
    return inputs


def _read_folder(place: Place, options: ReadOptions) -> SideInputs:
    """Read the files directly in a folder; if it has only folders, each is a run.

    With folders of benchmarks next to its files, it is one run, as ``measure`` saves
    it.
    """
    from pathlib import Path

    inputs, skipped, folders = _read_files(place, Path(place.target), options)
    if folders and not inputs:
        inputs = _read_runs(place, folders, skipped, options)
    elif any(path.name.startswith("Benchmark") for path, _ in folders):
        inputs += _read_units(place, folders, skipped, options)
        inputs = [replace(one, run=0) for one in inputs]
    else:
        skipped += _nested(folders)
    if not inputs:
        raise FormatError(_unusable(place.target, sorted(skipped)))
    return SideInputs(place.label, tuple(inputs), tuple(sorted(skipped)))


def _read_runs(
    place: Place,
    folders: list[tuple[Path, str]],
    skipped: list[Skipped],
    options: ReadOptions,
) -> list[Input]:
    """Read the folders of one side, each with the files of one run, numbers by value.

    What is left out is added to `skipped`.
    """
    inputs: list[Input] = []
    run = 0
    for path, _ in sorted(folders, key=lambda one: _natural(one[0].name)):
        found, left_out, units = _read_files(place, path, options)
        skipped += left_out
        found += _read_units(place, units, skipped, options)
        inputs += [replace(one, run=run) for one in found]
        run += bool(found)
    return inputs


def _read_units(
    place: Place,
    folders: list[tuple[Path, str]],
    skipped: list[Skipped],
    options: ReadOptions,
) -> list[Input]:
    """Read the folders of a run, each with one unit of work, such as a benchmark.

    What is left out is added to `skipped`.
    """
    inputs: list[Input] = []
    for path, _ in folders:
        found, left_out, deeper = _read_files(place, path, options)
        inputs += [replace(one, unit=path.name) for one in found]
        skipped += left_out + _nested(deeper)
    return inputs


def _nested(folders: list[tuple[Path, str]]) -> list[Skipped]:
    return [Skipped(name, f"{name}: {_NESTED}") for _, name in folders]


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts names by the numbers in them: run2 before run10."""
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def _read_files(
    place: Place, folder: Path, options: ReadOptions
) -> tuple[list[Input], list[Skipped], list[tuple[Path, str]]]:
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        raise FetchError(unreadable(str(folder), error)) from None
    inputs: list[Input] = []
    skipped: list[Skipped] = []
    folders: list[tuple[Path, str]] = []
    for path in paths:
        name = printable(str(path))
        try:
            if path.is_dir() and not path.name.startswith("."):
                folders.append((path, name))
                continue
            foreign = _foreign(path, name)
        except OSError as error:  # stat failed
            foreign = unreadable(name, error)
        if foreign:
            skipped.append(Skipped(name, foreign))
            continue
        try:
            intake = _read_file(str(path), options.max_size)
        except PprofDiffError as error:
            skipped.append(not_read(name, error))
            continue
        try:
            entries = _inputs(place, name, intake)
        except FormatError as error:
            skipped.append(Skipped(name, str(error)))
            continue
        inputs += [replace(entry, of_folder=True) for entry in entries]
    return inputs, skipped, folders


_NESTED = "a nested folder; name it to read it"


def _unusable(folder: str, skipped: Sequence[Skipped]) -> str:
    name = printable(folder)
    if not skipped:
        return f"{name}: empty folder"
    first = sorted(skipped, key=lambda entry: not entry.unread)[:3]
    shown = "; ".join(entry.reason for entry in first)
    more = f"; and {len(skipped) - 3} more" if len(skipped) > 3 else ""
    return f"{name}: nothing in this folder can be compared ({shown}{more})"


def is_pgo(name: str) -> bool:
    """Return whether a file is named as a profile for ``go build -pgo``: an input."""
    return name.endswith(".pgo")


def _foreign(path: Path, name: str) -> str:
    """Return why a folder's entry is not opened, "" if it is; raises OSError."""
    if path.name.startswith("."):
        return f"{name}: hidden; name it to read it"
    if is_pgo(path.name):
        return f"{name}: profile for go build -pgo; name it to read it"
    # Opening a pipe could block forever; a device could be endless.
    if not path.is_file():
        return f"{name}: not a regular file, or a broken link"
    return ""


def _read_file(path: str, max_size: int) -> Intake:
    name = printable(path)
    try:
        with open(path, "rb") as file:
            return take(file, name, max_size)
    except OSError as error:
        raise FetchError(unreadable(path, error)) from None


def _read_stdin(max_size: int) -> Intake:
    import sys

    if sys.stdin is None:
        msg = "standard input: closed"
        raise FetchError(msg)
    try:
        return take(sys.stdin.buffer, "standard input", max_size)
    except OSError as error:
        raise FetchError(unreadable("standard input", error)) from None
