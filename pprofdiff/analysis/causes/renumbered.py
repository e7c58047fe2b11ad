"""Closures whose numbers differ between the builds."""

from __future__ import annotations

from posixpath import basename, dirname

import numpy as np

from pprofdiff.analysis.causes.cpu import CPUComparison
from pprofdiff.goruntime.names import is_standard_library
from pprofdiff.identity.symbols import Symbols
from pprofdiff.model.csr import unique_tuples


def renumbered(cpu: CPUComparison) -> list[int]:
    """Return closures of one side that may be the other's by another name.

    They have no pair. Their function has such closures on both sides, which may be
    renumbered; or the same file does, whose function one side's compiler inlined into
    another package: ``crc32.init.OnceFunc.func4`` is ``sync.OnceFunc.func1``.
    """
    sides = cpu.diff.paired_functions.union
    there = np.zeros((2, len(cpu.names)), np.bool_)
    for side, rows in enumerate(sides):
        there[side, rows] = True
    closures: dict[object, tuple[set[int], set[int]]] = {}
    elsewhere: set[str] = set()
    symbols = Symbols(cpu.names, {})
    for side in (0, 1):
        alone = np.flatnonzero(there[side] & ~there[1 - side]).tolist()
        alone = [row for row in alone if symbols[row].kinds]
        files = _files(cpu, side, alone) if alone else {}
        for row in alone:
            symbol = symbols[row]
            homes: list[object] = [(symbol.package, symbol.function)]
            if row in files and is_standard_library(symbol.package):
                homes.append(files[row])
                if dirname(files[row]) != basename(symbol.package):
                    elsewhere.add(files[row])
            for home in homes:
                closures.setdefault(home, (set(), set()))[side].add(row)
    both = (
        some
        for home, some in closures.items()
        if all(some) and (not isinstance(home, str) or home in elsewhere)
    )
    return sorted({row for some in both for row in set().union(*some)})


def _files(cpu: CPUComparison, side: int, functions: list[int]) -> dict[int, str]:
    """Return the last two elements of the path of some functions' files, by row."""
    profile = (cpu.diff.base, cpu.diff.new)[side].profile
    rows = cpu.diff.paired_functions.of_lines[side]
    lines = np.flatnonzero(cpu.only(*functions)[rows])
    rows = rows[lines]
    files = profile.functions.filename[profile.locations.line_function[lines]]
    first, _ = unique_tuples((rows, files))
    pairs = zip(rows[first].tolist(), files[first].tolist(), strict=True)
    paths = ((row, profile.strings[file]) for row, file in pairs)
    return {row: "/".join(path.split("/")[-2:]) for row, path in paths if path}
