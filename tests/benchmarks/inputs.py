"""Large CPU profiles of an invented Go service, made from a seed and kept on disk."""

from __future__ import annotations

import os
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.csr import expand
from tests.benchmarks.gowire import (
    function_messages,
    location_messages,
    sample_messages,
)
from tests.benchmarks.shapes import SHAPES, Capture

Column = NDArray[np.int64]

VERSION = 2
_PERIOD = 10_000_000


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sides to compare: files, or folders with a folder of each run."""

    base: Path
    new: Path


def make(folder: Path, stacks: int, seed: int = 1, shape: str = "service") -> Pair:
    """Return the pair with this many stacks, making it if it is not in `folder`."""
    home = folder / f"v{VERSION}-seed{seed}-{shape}-{stacks}"
    done = home / "done"
    if not done.exists():
        for side, captures in zip(
            ("base", "new"), SHAPES[shape](stacks, seed), strict=True
        ):
            for number, capture in enumerate(captures):
                run = home / side / str(number)
                run.mkdir(parents=True, exist_ok=True)
                _write(run / "cpu.pb.gz", capture)
        done.touch()
    return Pair(*(_side(home / side) for side in ("base", "new")))


def _side(folder: Path) -> Path:
    """Return the file of a side, its folder where it has several runs."""
    files = list(folder.glob("*/cpu.pb.gz"))
    return folder if len(files) > 1 else files[0]


def _write(path: Path, capture: Capture) -> None:
    """Write one profile; parts of the program that no stack meets are left out."""
    program, stacks, counts = capture.program, capture.stacks, capture.counts
    met, first_use, location_ids = _ranked(stacks.items)
    line_counts = np.diff(program.line_offsets)[met]
    lines = expand(program.line_offsets[:-1][met], line_counts)
    used, _, function_ids = _ranked(program.line_function[lines])
    fixed = ["", "samples", "count", "cpu", "nanoseconds", "/app/server", "4b1d0ffe"]
    names = [program.names[f] for f in used.tolist()]
    files = [program.files[f] for f in used.tolist()]
    said = [x for label in capture.labels for x in (label.key, *label.texts)]
    named = (x for pair in zip(names, files, strict=True) for x in pair)
    strings = list(dict.fromkeys((*fixed, *said, *named)))
    place = {s: i for i, s in enumerate(strings)}
    samples = sample_messages(
        np.stack((counts, counts * _PERIOD), axis=1),
        location_ids + 1,
        np.diff(stacks.offsets),
        _labels(capture, place),
    ).split()
    locations = location_messages(
        program.address[met], line_counts, function_ids + 1, program.line_number[lines]
    ).split()
    functions = function_messages(
        np.array([place[n] for n in names]),
        np.array([place[f] for f in files]),
        program.start_line[used],
    ).split()
    first_line = np.cumsum(line_counts) - line_counts
    newest = np.maximum.accumulate(np.maximum.reduceat(function_ids, first_line))
    owner = np.searchsorted(stacks.offsets, first_use, side="right") - 1
    body = _interleaved(samples, (locations, owner), (functions, newest))
    _replace(path, _gzip([_header(capture.seconds), *body, _trailer(strings)]))


def _labels(capture: Capture, place: dict[str, int]) -> Column:
    """Return the strings (key, text) of each sample's labels: (samples, labels, 2)."""
    labels = np.zeros((len(capture.counts), len(capture.labels), 2), np.int64)
    for i, label in enumerate(capture.labels):
        labels[:, i, 0] = place[label.key]
        labels[:, i, 1] = np.array([place[text] for text in label.texts])[label.of]
    return labels


def _ranked(items: Column) -> tuple[Column, Column, Column]:
    """Return distinct items by first use, where that is, and each item's rank."""
    first_use = np.full(int(items.max()) + 1, len(items), np.int64)
    first_use[items[::-1]] = np.arange(len(items) - 1, -1, -1)
    met = np.flatnonzero(first_use < len(items))
    met = met[np.argsort(first_use[met])]
    rank = np.zeros(len(first_use), np.int64)
    rank[met] = np.arange(len(met))
    return met, first_use[met], rank[items]


def _interleaved(
    samples: list[bytes],
    locations: tuple[list[bytes], Column],
    functions: tuple[list[bytes], Column],
) -> list[bytes]:
    """Put each location, then the functions new with it, before its first sample."""
    out: list[bytes] = []
    written = done = 0
    uses = np.searchsorted(locations[1], np.arange(len(samples)), side="right")
    newest = functions[1].tolist()
    for sample, upto in zip(samples, uses.tolist(), strict=True):
        while written < upto:
            out.append(locations[0][written])
            out.extend(functions[0][done : newest[written] + 1])
            done = newest[written] + 1
            written += 1
        out.append(sample)
    return out


def _header(seconds: int) -> bytes:
    """Return what stands before the samples: types, time, duration, period."""
    from pprofdiff.loaders.profiles.schema import message_class

    message = message_class("Profile")(
        time_nanos=1_760_000_000_000_000_000,
        duration_nanos=seconds * 1_000_000_000,
        period=_PERIOD,
    )
    message.sample_type.add(type=1, unit=2)
    message.sample_type.add(type=3, unit=4)
    message.period_type.type, message.period_type.unit = 3, 4
    return bytes(message.SerializeToString())


def _trailer(strings: list[str]) -> bytes:
    """Return what stands after the samples: the mapping and the strings."""
    from pprofdiff.loaders.profiles.schema import message_class

    message = message_class("Profile")()
    message.mapping.add(
        id=1,
        memory_start=0x400000,
        memory_limit=0x2000000,
        filename=5,
        build_id=6,
        has_functions=True,
    )
    message.string_table.extend([s.encode() for s in strings])
    return bytes(message.SerializeToString())


def _gzip(parts: list[bytes]) -> bytes:
    """Return gzip at level 1, as runtime/pprof does (gzip.BestSpeed)."""
    stream = zlib.compressobj(1, zlib.DEFLATED, 31)
    return stream.compress(b"".join(parts)) + stream.flush()


def _replace(path: Path, data: bytes) -> None:
    """Write a file so that it is never seen half written."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_bytes(data)
    part.replace(path)


if __name__ == "__main__":
    shape, stacks, folder, seed = sys.argv[1:]
    made = make(Path(folder), int(stacks), int(seed), shape)
    print(made.base, made.new, sep="\n")
