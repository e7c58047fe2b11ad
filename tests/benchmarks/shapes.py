"""Shapes of profiles: what may make one pair cost more than another of the same size.

Each shape is a function of a size (stacks) and a seed, which returns the captures of
base and of new. All are variations of the invented service of `service` and `walks`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.csr import expand, offsets_of
from tests.benchmarks.service import Program, build, renamed
from tests.benchmarks.walks import ENDINGS, RUNTIME, SPINES, Stacks, distinct, mixed

Column = NDArray[np.int64]

# stacks: (functions of the service, seconds)
SIZES = {5_000: (3_000, 30), 50_000: (9_000, 120), 500_000: (20_000, 600)}

_RUNTIME_VALUE = 0.25
_RUNS = 10
# Locations of a recursive stack: with what is inlined, nearly the 128 frames at which
# Go's profiler stops.
_DEEPEST = 96
_NAME_BYTES = 2_048


@dataclass(frozen=True, slots=True)
class Label:
    """A label that each sample has: `of` is the position of its text in `texts`."""

    key: str
    texts: list[str]
    of: Column


@dataclass(frozen=True, slots=True, eq=False)
class Capture:
    """One CPU profile before it is encoded: `counts` are the samples of each stack."""

    program: Program
    stacks: Stacks
    counts: Column
    seconds: int
    labels: tuple[Label, ...] = ()


Pair = tuple[list[Capture], list[Capture]]


@dataclass(frozen=True, slots=True, eq=False)
class _Made:
    """A program, the stacks that it was seen in, and what draws all else of it."""

    program: Program
    known: Stacks
    rng: np.random.Generator
    seconds: int

    @classmethod
    def of(cls, size: int, seed: int, stacks: int) -> _Made:
        """Return the service of this size, with so many stacks."""
        functions, seconds = SIZES[size]
        program = build(functions, [*SPINES, *ENDINGS, *RUNTIME], seed)
        rng = np.random.default_rng([seed, size])
        return cls(program, distinct(program, stacks, rng), rng, seconds)

    def capture(self, rows: Column) -> Capture:
        """Return a capture of these stacks."""
        stacks = self.known.take(mixed(rows, self.rng))
        return Capture(self.program, stacks, _values(stacks, self.rng), self.seconds)

    def changed(self, rows: Column, seed: int) -> Capture:
        """Return a capture of the next build: functions cost more, some are renamed."""
        program = _rebuilt(self.program, renamed(self.program, seed))
        slower = _slower(program, self.known, self.rng)
        stacks = self.known.take(mixed(rows, self.rng))
        counts = _values(stacks, self.rng, slower)
        return Capture(program, stacks, counts, self.seconds)


def _service(size: int, seed: int, kept: float = 0.60) -> Pair:
    """Return two builds with 60 % of stacks in both: some functions and GC dearer."""
    made = _Made.of(size, seed, int(size * (2 - kept)))
    rows = np.arange(len(made.known.kind))
    base = made.capture(rows[:size])
    new = np.concatenate((rows[: int(size * kept)], rows[size:]))
    return [base], [made.changed(new, seed)]


def _weight(size: int, seed: int) -> Pair:
    """Return the same stacks: three times the samples in twice the seconds."""
    made = _Made.of(size, seed, size)
    base = made.capture(np.arange(size))
    counts = np.maximum(made.rng.poisson(3 * base.counts), 1)
    return [base], [replace(base, counts=counts, seconds=2 * base.seconds)]


def _moved(size: int, seed: int) -> Pair:
    """Return the same stacks, each with three times the samples of another one."""
    made = _Made.of(size, seed, size)
    base = made.capture(np.arange(size))
    counts = 3 * mixed(base.counts, made.rng)
    return [base], [replace(base, counts=counts, seconds=2 * base.seconds)]


def _renamed(size: int, seed: int) -> Pair:
    """Return the same stacks with a fifth of the functions under other names."""
    made = _Made.of(size, seed, size)
    names = list(made.program.names)
    for i in np.flatnonzero(made.rng.random(made.program.own) < 0.2).tolist():
        package, _, rest = names[i].rpartition("/")
        word, _, function = rest.partition(".")
        names[i] = (
            f"{package}/{word}2.{function}",
            f"{names[i]}V2",
            f"{package}/{word}.fast{i}",
        )[i % 3]
    base = made.capture(np.arange(size))
    program = _rebuilt(made.program, names)
    return [base], [replace(made.capture(np.arange(size)), program=program)]


def _half(size: int, seed: int) -> Pair:
    """Return the service with half of the stacks in both."""
    return _service(size, seed, 0.5)


def _recursion(size: int, seed: int) -> Pair:
    """Return the service with calls repeated: stacks of up to 96 locations."""
    pair = _service(size, seed)
    for side in pair:
        rng = np.random.default_rng([seed, size, 1])
        side[:] = [replace(c, stacks=_deeper(c.stacks, rng)) for c in side]
    return pair


def _labels(size: int, seed: int) -> Pair:
    """Return the service with labels: 200 endpoints and 16 shards."""
    pair = _service(size, seed)
    rng = np.random.default_rng([seed, size, 2])
    for side in pair:
        side[:] = [replace(c, labels=_drawn_labels(len(c.counts), rng)) for c in side]
    return pair


def _runs(size: int, seed: int) -> Pair:
    """Return ten runs a side, each with a fifth of the stacks."""
    made = _Made.of(size, seed, size)
    rows = np.arange(size)
    base, new = (
        [capture(mixed(rows, made.rng)[: size // 5]) for _ in range(_RUNS)]
        for capture in (made.capture, lambda rows: made.changed(rows, seed))
    )
    return base, new


def _callers(size: int, seed: int) -> Pair:
    """Return stacks in which one function has two callers, each another function."""
    program = build(2 * size + 1, [*SPINES, *ENDINGS, *RUNTIME], seed)
    rng = np.random.default_rng([seed, size])
    # Without inlining, so that the function's callers are those that are meant.
    last = program.line_offsets[1:] - 1
    program = replace(
        program,
        line_offsets=np.arange(len(last) + 1),
        line_function=program.line_function[last],
        line_number=program.line_number[last],
    )
    entry = np.array([program.names.index(n) for n in SPINES[0].functions[::-1]])
    caller = 1 + rng.permutation(2 * size).reshape(size, 2)
    called = np.zeros(size, np.int64)
    above = np.broadcast_to(entry, (size, len(entry)))
    functions = np.column_stack((called, caller[:, 0], called, caller[:, 1], above))
    stacks = Stacks(
        np.arange(size + 1) * functions.shape[1],
        program.first[functions].reshape(-1),
        np.zeros(size, np.int64),
        caller[:, 0],
    )
    seconds = SIZES[size][1]
    base = Capture(program, stacks, _values(stacks, rng), seconds)
    slower = rng.choice(caller[:, 0], 12, replace=False)
    return [base], [replace(base, counts=_values(stacks, rng, slower))]


def _names(size: int, seed: int) -> Pair:
    """Return the service with names of 2 KB: functions have type arguments."""
    pair = _service(size, seed)
    types = [n for n in pair[0][0].program.names if not {"[", "("} & {*n}]
    for side in pair:
        side[:] = [replace(c, program=_generic(c.program, types)) for c in side]
    return pair


# A function of (stacks, seed) for each name.
SHAPES: dict[str, Callable[[int, int], Pair]] = {
    "service": _service,
    "weight": _weight,
    "moved": _moved,
    "renamed": _renamed,
    "half": _half,
    "recursion": _recursion,
    "labels": _labels,
    "runs": _runs,
    "callers": _callers,
    "names": _names,
}


def _rebuilt(program: Program, names: list[str]) -> Program:
    """Return the next build: names and addresses differ, a tenth has moved by lines."""
    return replace(
        program,
        names=names,
        address=program.address + 0x1240,
        line_number=program.line_number + 3 * (program.line_function % 10 == 0),
    )


def _slower(program: Program, known: Stacks, rng: np.random.Generator) -> Column:
    """Return a dozen functions of the service that many stacks end in."""
    worker = known.worker[known.worker >= 0]
    often = np.argsort(-np.bincount(worker, minlength=program.own), kind="stable")[:200]
    return often[np.argsort(rng.random(200))[:12]]


def _values(
    stacks: Stacks, rng: np.random.Generator, slower: Column | None = None
) -> Column:
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


def _deeper(stacks: Stacks, rng: np.random.Generator) -> Stacks:
    """Return stacks with a few calls in the middle repeated."""
    depth = np.diff(stacks.offsets)
    at = depth // 2
    calls = np.minimum(1 + (rng.random(len(depth)) * 4).astype(np.int64), depth - at)
    more = np.maximum(_DEEPEST - depth, 0) * rng.random(len(depth))
    more = more.astype(np.int64) // calls * calls
    more[stacks.kind >= len(ENDINGS)] = 0
    offsets = offsets_of(depth + more)
    row = np.repeat(np.arange(len(depth)), depth + more)
    place = expand(np.zeros(len(depth), np.int64), depth + more)
    beyond = place - at[row]
    source = np.where(
        beyond < more[row], at[row] + beyond % calls[row], place - more[row]
    )
    source = np.where(beyond < 0, place, source)
    items = stacks.items[stacks.offsets[row] + source]
    return replace(stacks, offsets=offsets, items=items)


def _drawn_labels(samples: int, rng: np.random.Generator) -> tuple[Label, ...]:
    """Return two labels for so many samples; some endpoints are met far oftener."""
    endpoint = (rng.random(samples) ** 3 * 200).astype(np.int64)
    shard = (rng.random(samples) * 16).astype(np.int64)
    return (
        Label("endpoint", [f"/api/v1/resource{i}" for i in range(200)], endpoint),
        Label("shard", [f"shard-{i}" for i in range(16)], shard),
    )


def _generic(program: Program, types: list[str]) -> Program:
    """Return the program with type arguments in the names of its own functions."""
    names = list(program.names)
    for i in range(program.own):
        near = ",".join(types[(i + k) % len(types)] for k in range(80))
        names[i] = f"{names[i]}[{near[: _NAME_BYTES - len(names[i]) - 2]}]"
    return replace(program, names=names)
