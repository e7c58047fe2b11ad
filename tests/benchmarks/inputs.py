"""Large CPU profiles of an invented Go service, made from a seed and kept on disk.

Base and new are two runs of two builds: 60 % of the stacks occur in both with values
drawn again, some functions cost more, garbage collection costs more, some functions
have other names. ``pair.json`` beside a pair says what was changed.
"""

from __future__ import annotations

import json
import os
import sys
import zlib
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.csr import expand
from tests.benchmarks.gowire import (
    function_messages,
    location_messages,
    sample_messages,
)
from tests.benchmarks.service import Program, build, renamed
from tests.benchmarks.walks import ENDINGS, RUNTIME, SPINES, Stacks, distinct, mixed

__all__ = ["SIZES", "Pair", "make"]

Column = NDArray[np.int64]

VERSION = 1
_PERIOD = 10_000_000
_RUNTIME_VALUE = 0.25
_KEPT = 0.60

# stacks: (functions of the service, seconds)
SIZES = {5_000: (3_000, 30), 50_000: (9_000, 120), 500_000: (20_000, 600)}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two profiles to compare."""

    base: Path
    new: Path


def make(folder: Path, stacks: int, seed: int = 1) -> Pair:
    """Return the pair with this many stacks, making it if it is not in `folder`."""
    home = folder / f"v{VERSION}-seed{seed}-{stacks}"
    pair = Pair(home / "base.pb.gz", home / "new.pb.gz")
    if (home / "pair.json").exists():
        return pair
    functions, seconds = SIZES[stacks]
    program = build(functions, [*SPINES, *ENDINGS, *RUNTIME], seed)
    rng = np.random.default_rng([seed, stacks])
    known = distinct(program, int(stacks * (2 - _KEPT)), rng)
    rows = np.arange(len(known.kind))
    home.mkdir(parents=True, exist_ok=True)
    base = mixed(rows[:stacks], rng)
    _write(pair.base, program, known.take(base), rng, seconds=seconds)
    names, changed = renamed(program, seed)
    slower = _slower(program, known, rng)
    shifted = replace(
        program,
        names=names,
        address=program.address + 0x1240,
        line_number=program.line_number + 3 * (program.line_function % 10 == 0),
    )
    new = mixed(np.concatenate((rows[: int(stacks * _KEPT)], rows[stacks:])), rng)
    _write(pair.new, shifted, known.take(new), rng, seconds=seconds, slower=slower)
    facts = {
        "slower": {program.names[f]: 3 for f in slower.tolist()},
        "costs_more": {"background mark": 1.5, "assist": 1.8},
        "renamed": changed,
    }
    _replace(home / "pair.json", json.dumps(facts, indent=1).encode())
    return pair


def _slower(program: Program, known: Stacks, rng: np.random.Generator) -> Column:
    """Return a dozen functions of the service that many stacks end in."""
    worker = known.worker[known.worker >= 0]
    often = np.argsort(-np.bincount(worker, minlength=program.own), kind="stable")[:200]
    return often[np.argsort(rng.random(200))[:12]]


def _values(stacks: Stacks, slower: Column | None, rng: np.random.Generator) -> Column:
    """Return sample counts: mostly 1 to 3, the runtime's own far higher."""
    size = len(stacks.kind)
    counts = 1 + np.minimum(-np.log(1 - rng.random(size)) * 0.75, 60).astype(np.int64)
    if slower is not None:
        counts[np.isin(stacks.worker, slower)] *= 3
        assist = [i for i, c in enumerate(ENDINGS) if c.kind == "assist"]
        more = np.isin(stacks.kind, assist) & (rng.random(size) < 0.8)
        counts[more] *= 2
    alone = np.flatnonzero(stacks.kind >= len(ENDINGS))
    share = np.array([c.weight for c in RUNTIME], np.float64)
    if slower is not None:
        share[[c.kind == "mark" for c in RUNTIME]] *= 1.5
    kind = stacks.kind[alone] - len(ENDINGS)
    total = counts.sum() * _RUNTIME_VALUE / (1 - _RUNTIME_VALUE)
    draw = -np.log(1 - rng.random(len(alone)))
    weight = np.bincount(kind, draw, len(share))
    scale = total / sum(c.weight for c in RUNTIME)
    counts[alone] = 1 + (draw * (share * scale / np.maximum(weight, 1e-9))[kind])
    return counts


def _write(
    path: Path,
    program: Program,
    stacks: Stacks,
    rng: np.random.Generator,
    *,
    seconds: int,
    slower: Column | None = None,
) -> None:
    """Write one profile; parts of the program that no stack meets are left out."""
    counts = _values(stacks, slower, rng)
    met, first_use, location_ids = _ranked(stacks.items)
    line_counts = np.diff(program.line_offsets)[met]
    lines = expand(program.line_offsets[:-1][met], line_counts)
    used, _, function_ids = _ranked(program.line_function[lines])
    fixed = ["", "samples", "count", "cpu", "nanoseconds", "/app/server", "4b1d0ffe"]
    names = [program.names[f] for f in used.tolist()]
    files = [program.files[f] for f in used.tolist()]
    strings = list(
        dict.fromkeys((*fixed, *(x for p in zip(names, files, strict=True) for x in p)))
    )
    place = {s: i for i, s in enumerate(strings)}
    samples = sample_messages(
        np.stack((counts, counts * _PERIOD), axis=1),
        location_ids + 1,
        np.diff(stacks.offsets),
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
    _replace(path, _gzip([_header(seconds), *body, _trailer(strings)]))


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
    made = make(Path(sys.argv[2]), int(sys.argv[1]), int(sys.argv[3]))
    print(made.base, made.new, sep="\n")
