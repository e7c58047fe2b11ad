"""Walks through an invented program: the stacks that a profiler would meet.

A stack is an entry path (HTTP, gRPC, a worker), the service's own calls down through
its layers, then what the leaf asks of the runtime or the standard library. Some
stacks are the runtime's alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pprofdiff.model.csr import expand, offsets_of, unique_rows
from tests.benchmarks.chains import Chain, chains
from tests.benchmarks.service import Program

Column = NDArray[np.int64]

SPINES, ENDINGS, RUNTIME = (chains(s) for s in ("entries", "endings", "runtime"))
_MAX_FRAMES = 64
_ALONE = 0.025
_WALKS_AT_ONCE = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class Stacks:
    """Stacks leaf first (rows of locations), their kind, and the body's last function.

    `kind` is a position in `ENDINGS`, or len(ENDINGS) + one in `RUNTIME`;
    `worker` is the last function of the service in the stack, or -1.
    """

    offsets: Column
    items: Column
    kind: Column
    worker: Column

    def take(self, rows: Column) -> Stacks:
        """Return the chosen stacks."""
        counts = np.diff(self.offsets)[rows]
        items = self.items[expand(self.offsets[:-1][rows], counts)]
        return Stacks(offsets_of(counts), items, self.kind[rows], self.worker[rows])


def mixed(rows: Column, rng: np.random.Generator) -> Column:
    """Return the rows in a drawn order: stacks are recorded as they come."""
    return rows[np.argsort(rng.random(len(rows)), kind="stable")]


def _drawn(among: list[Chain], size: int, rng: np.random.Generator) -> Column:
    """Return positions in `among`, drawn by weight."""
    weights = [c.weight for c in among]
    edges = np.cumsum(weights) / sum(weights)
    return np.minimum(np.searchsorted(edges, rng.random(size)), len(weights) - 1)


def distinct(program: Program, wanted: int, rng: np.random.Generator) -> Stacks:
    """Return `wanted` different stacks, the runtime's own spread among them."""
    parts: list[Stacks] = []
    have = 0
    while have < wanted:
        size = int((wanted - have) * 1.4) + 2_000
        while size > 0:
            parts.append(_walks(program, min(size, _WALKS_AT_ONCE), rng))
            size -= _WALKS_AT_ONCE
        joined = _joined(parts)
        first, _ = unique_rows(joined.offsets, (joined.items,))
        parts = [joined.take(first)]
        have = len(first)
    return parts[0].take(mixed(np.arange(have), rng)[:wanted])


def _joined(parts: list[Stacks]) -> Stacks:
    counts = np.concatenate([np.diff(p.offsets) for p in parts])
    columns = zip(*((p.items, p.kind, p.worker) for p in parts), strict=True)
    return Stacks(offsets_of(counts), *(np.concatenate(c) for c in columns))


def _walks(program: Program, size: int, rng: np.random.Generator) -> Stacks:
    """Return `size` walks, less those too deep: several may be equal."""
    spines = program.table(SPINES)
    endings = program.table([*ENDINGS, *RUNTIME])
    alone = rng.random(size) < _ALONE
    spine = np.where(alone, -1, _drawn(SPINES, size, rng))
    suffix = _drawn(ENDINGS, size, rng)
    roots = _drawn(RUNTIME, size, rng)
    kind = np.where(alone, len(ENDINGS) + roots, suffix)
    steps = 4 + (-np.log(1 - rng.random((2, size))).sum(axis=0) * 4.8).astype(np.int64)
    steps = np.where(alone, 0, np.minimum(steps, 44))
    head, tail = spines[1][spine], endings[1][kind]
    head[alone] = 0
    depths = head + steps + tail
    grid = np.full((size, int(depths.max())), -1, np.int32)
    _fill(grid, program, spines, (spine, np.zeros(size, np.int64)), rng)
    worker = _descend(grid, program, head, steps, rng)
    _fill(grid, program, endings, (kind, head + steps), rng)
    lines = np.diff(program.line_offsets).astype(np.int32)
    inside = grid >= 0
    frames = np.where(inside, lines[grid], 0).sum(axis=1)
    kept = np.flatnonzero((frames <= _MAX_FRAMES) & (depths > 0))
    # Leaf first: mirror the grid, which drops the padding in front.
    items = grid[kept, ::-1]
    return Stacks(offsets_of(depths[kept]), items[items >= 0], kind[kept], worker[kept])


def _location(program: Program, function: Column, rng: np.random.Generator) -> Column:
    """Return one location of each function; a function's first are the likelier."""
    draw = rng.random(len(function)) ** 2.4
    return program.first[function] + (draw * program.count[function]).astype(np.int64)


def _fill(
    grid: Column,
    program: Program,
    chains: tuple[Column, Column],
    where: tuple[Column, Column],
    rng: np.random.Generator,
) -> None:
    """Write the chain numbered ``where[0]`` (-1: none) from column ``where[1]`` on."""
    table, lengths = chains
    chain, at = where
    for step in range(table.shape[1]):
        rows = np.flatnonzero((chain >= 0) & (lengths[chain] > step))
        function = table[chain[rows], step]
        grid[rows, at[rows] + step] = _location(program, function, rng)


def _descend(
    grid: Column,
    program: Program,
    start: Column,
    steps: Column,
    rng: np.random.Generator,
) -> Column:
    """Write the service's own calls; return the last function, -1 where none."""
    handlers = max(40, program.own // 40)
    function = (rng.random(len(grid)) ** 2 * handlers).astype(np.int64)
    worker = np.full(len(grid), -1, np.int64)
    for step in range(int(steps.max())):
        rows = np.flatnonzero(steps > step)
        location = _location(program, function[rows], rng)
        grid[rows, start[rows] + step] = location
        worker[rows] = function[rows]
        function[rows] = program.callee[location]
    return worker
