"""An invented service as tables: functions, program counters, and who calls whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.chains import Chain
from tests.benchmarks.names import invent, known_file

Column = NDArray[np.int64]

# Share of program counters in which the compiler inlined something.
_INLINED = 0.35


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A program: functions, and locations (program counters) that call functions.

    Function f's locations are ``first[f]:first[f]+count[f]``; location p calls
    function ``callee[p]``; its lines are ``line_offsets[p]:line_offsets[p+1]`` of
    `line_function` and `line_number`, innermost first. The first `own` functions are
    the service's, the others libraries and runtime.
    """

    names: list[str]
    files: list[str]
    start_line: Column
    own: int
    first: Column
    count: Column
    callee: Column
    line_offsets: Column
    line_function: Column
    line_number: Column
    address: Column

    def table(self, chains: list[Chain]) -> tuple[Column, Column]:
        """Return chains as a padded table of functions, and their lengths."""
        place = {n: i for i, n in enumerate(self.names)}
        lengths = np.array([len(c.functions) for c in chains])
        table = np.zeros((len(chains), int(lengths.max())), np.int64)
        for row, chain in zip(table, chains, strict=True):
            row[: len(chain.functions)] = [place[n] for n in chain.functions]
        return table, lengths


def build(functions: int, chains: list[Chain], seed: int) -> Program:
    """Return a program with this many functions of its own, and chains' functions."""
    rng = np.random.default_rng([seed, functions])
    service = invent(functions, rng)
    library = list(dict.fromkeys(name for c in chains for name in c.functions))
    total = functions + len(library)
    count = 1 + (rng.random(total) ** 3 * 24).astype(np.int64)
    count[functions:] += 4
    first = np.cumsum(count) - count
    owner = np.repeat(np.arange(total), count)
    place = np.arange(len(owner)) - first[owner]
    start_line = 10 + (rng.random(total) * 900).astype(np.int64)
    lines = _lines(owner, start_line, functions, place, rng)
    size = 64 + count * 24
    address = 0x401000 + (np.cumsum(size) - size)[owner] + 16 + place * 24
    return Program(
        names=service.names + library,
        files=service.files + [known_file(n) for n in library],
        start_line=start_line,
        own=functions,
        first=first,
        count=count,
        callee=_callees(owner, service.package, service.layer, functions, rng),
        line_offsets=lines[0],
        line_function=lines[1],
        line_number=lines[2],
        address=address,
    )


def _callees(
    owner: Column,
    package: Column,
    layer: Column,
    own: int,
    rng: np.random.Generator,
) -> Column:
    """Return each location's callee: the same package, or one of a deeper layer."""
    by_package = np.searchsorted(package, np.arange(package[-1] + 2))
    by_layer = np.argsort(layer, kind="stable")
    layer_starts = np.searchsorted(layer[by_layer], np.arange(layer.max() + 2))
    caller = np.minimum(owner, own - 1)
    near, far, pick = rng.random((3, len(owner)))
    low, high = by_package[package[caller]], by_package[package[caller] + 1]
    same = low + (pick * (high - low)).astype(np.int64)
    deeper = np.minimum(layer[caller] + (far * 2.2).astype(np.int64), layer.max())
    low, high = layer_starts[deeper], layer_starts[deeper + 1]
    other = by_layer[low + (pick**2 * (high - low)).astype(np.int64)]
    return np.where(near < 0.55, same, other)


def _lines(
    owner: Column,
    start_line: Column,
    own: int,
    place: Column,
    rng: np.random.Generator,
) -> tuple[Column, Column, Column]:
    """Return line offsets, functions and numbers: inlined functions come first."""
    draw = rng.random(len(owner))
    counts = np.ones(len(owner), np.int64)
    for extra in (1.0, 0.4, 0.12):
        counts += draw < _INLINED * extra
    counts[owner >= own] = 1
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    last = offsets[1:] - 1
    # Small functions at the far end of the list are the ones that get inlined.
    function = own - 1 - (rng.random(int(offsets[-1])) ** 2 * own).astype(np.int64)
    function[last] = owner
    number = (
        start_line[function] + 1 + (rng.random(len(function)) * 30).astype(np.int64)
    )
    number[last] = start_line[owner] + 1 + place * 3
    return offsets, function, number


def renamed(program: Program, seed: int) -> list[str]:
    """Return the names in the next build.

    Closures move up one number where their function got another closure before
    them, and one function in a hundred is replaced by one with another name.
    """
    rng = np.random.default_rng([seed, 1])
    draw = rng.random(program.own)
    taken = set(program.names)
    names = list(program.names)
    for i in range(program.own):
        stem, mark, number = names[i].rpartition(".func")
        if mark and number.isdigit():
            if draw[i] < 0.05:
                names[i] = f"{stem}.func{int(number) + 1}"
        elif draw[i] < 0.01 and names[i][-1].isalpha():
            names[i] += "V2"
        if names[i] != program.names[i] and names[i] in taken:
            names[i] = program.names[i]
        taken.add(names[i])
    return names
