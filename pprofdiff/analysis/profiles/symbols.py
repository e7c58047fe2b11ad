"""A side's functions as its profiles show them: where they begin, what they call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pprofdiff.goruntime.names import alias, canonical_parts, is_runtime_like
from pprofdiff.identity.closures import Body, Closures, Place, closure_pairs, defined_in
from pprofdiff.identity.moves import Moves
from pprofdiff.model.csr import sums, unique_tuples
from pprofdiff.model.profiles.profile import Profile

__all__ = ["ProfiledSymbols", "closures_of"]


class ProfiledSymbols:
    """The functions of one side's profiles.

    Parameters
    ----------
    profiles
        The profiles, of one build.
    packages
        The import paths under which packages are paired that moved between the builds.

    """

    def __init__(
        self, profiles: Sequence[Profile], packages: Mapping[str, str]
    ) -> None:
        self._profiles, self._packages = profiles, packages

    @cached_property
    def places(self) -> Mapping[str, Place]:
        """Where each function begins, by its symbol; the first place that is known."""
        places: dict[str, Place] = {}
        for profile in self._profiles:
            strings, functions = profile.strings, profile.functions
            for name, file, line in zip(
                functions.name.tolist(),
                functions.filename.tolist(),
                functions.start_line.tolist(),
                strict=True,
            ):
                symbol = strings[name]
                if symbol not in places or (line and not places[symbol].line):
                    places[symbol] = Place(strings[file], line)
        return places

    def bodies(self, names: Collection[str]) -> Mapping[str, Body]:
        """Return what the chosen functions call, and from where they are called."""
        bodies: dict[str, Body] = {}
        for profile in self._profiles:
            self._add(profile, names, bodies)
        return bodies

    def _add(
        self, profile: Profile, names: Collection[str], bodies: dict[str, Body]
    ) -> None:
        symbols = profile.function_names()
        wanted = np.array([*(name in names for name in symbols), False])
        if not wanted.any():
            return
        edges, counts = _edges(profile, wanted)
        number = profile.locations.line_number
        function = profile.locations.line_function
        for (line, callee, caller), count in zip(
            zip(*(column.tolist() for column in edges), strict=True),
            counts.tolist(),
            strict=True,
        ):
            name = symbols[function[line]]
            body = bodies.setdefault(name, Body(Counter(), Counter()))
            first = self.places[name].line
            at = int(number[line]) - first if first else 0
            body.calls[at, self._stays(symbols, callee)] += count
            body.callers[self._stays(symbols, caller)] += count

    def _stays(self, symbols: Sequence[str], function: int) -> str:
        """Return the name of a function that stays from build to build, "" for none."""
        if function < 0:
            return ""
        name = symbols[function]
        if is_runtime_like(name):
            return alias(name)
        closure = defined_in(name)
        if closure is not None:
            return closure
        path, rest = canonical_parts(name)
        return f"{self._packages.get(path, path)}.{rest}"


def _edges(
    profile: Profile, wanted: NDArray[np.bool_]
) -> tuple[tuple[NDArray[np.int64], ...], NDArray[np.int64]]:
    """Return ((line, callee, caller), samples) of the frames of wanted functions.

    A line is a row of `Locations.line_function`; callee and caller are functions, −1
    for none. `wanted` has one more entry, for the function −1.
    """
    function = profile.locations.line_function
    frames = profile.frames()
    at = np.flatnonzero(wanted[function][frames.line])
    sample = np.searchsorted(frames.offsets, at, "right") - 1
    callee = np.where(
        at > frames.offsets[sample], function[frames.line[np.maximum(at - 1, 0)]], -1
    )
    above = np.minimum(at + 1, len(frames.line) - 1)
    caller = np.where(
        at + 1 < frames.offsets[sample + 1], function[frames.line[above]], -1
    )
    columns = tuple(
        column.astype(np.int64) for column in (frames.line[at], callee, caller)
    )
    first, group = unique_tuples(columns)
    counts = sums(group, _samples(profile)[sample], len(first))
    return tuple(column[first] for column in columns), counts


def _samples(profile: Profile) -> NDArray[np.int64]:
    """Return how many samples each row stands for; 1 where no column counts them."""
    types = [kind.type for kind in profile.sample_types]
    if "samples" in types:
        return np.abs(profile.values[:, types.index("samples")])
    return np.ones(len(profile), np.int64)


def closures_of(
    base: Sequence[Profile], new: Sequence[Profile], moves: Moves
) -> Closures:
    """Return which closures of two builds are the same, by all profiles of each."""
    return closure_pairs(
        ProfiledSymbols(base, moves.of_base),
        ProfiledSymbols(new, moves.of_new),
        (moves.of_base, moves.of_new),
    )
