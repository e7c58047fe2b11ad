"""How well renumbered closures are paired: ``python -m tests.identity.closure_oracle``.

Functions of one source file have bodies, callers and lines as closures of one function
have. Both sides of a real pair of captures get some of them under the names of such
closures; in new, numbers and lines are those after an edit. Which function each was is
the truth. Every CPU profile is paired with itself too: each sample falls to one side.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pprofdiff.goruntime.names import is_runtime_like, package_of
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.model.side import Side
from tests.identity.oracle import pairs, program_pairs

__all__ = ["VARIANTS", "halves", "inputs", "score"]


class Spot(NamedTuple):
    """What a function becomes: its name, and by how many lines it moves down."""

    name: str
    down: int = 0


class Home(NamedTuple):
    """A function that defines closures, its file, and theirs: (name, line), rising."""

    name: str
    file: str
    closures: list[tuple[str, int]]

    def numbered(self, part: slice, first: int, down: int = 0) -> Spots:
        """Return some of the functions as closures with numbers from `first` up."""
        return {
            name: Spot(f"{self.name}.func{i}", down)
            for i, (name, _) in enumerate(self.closures[part], first)
        }


class Edit(NamedTuple):
    """What functions become on both sides, what new lost, what follows in the file."""

    base: Spots
    new: Spots
    gone: frozenset[str] = frozenset()
    down: int = 0


Spots = dict[str, Spot]
Variant = Callable[[Home, random.Random], Edit]
_ALL = slice(None)
_CLOSURE = re.compile(r"[.-](func|gowrap|deferwrap|range)?\d+$")


def _same(home: Home, _: random.Random) -> Edit:
    return Edit(home.numbered(_ALL, 1), home.numbered(_ALL, 1))


def _inserted(home: Home, chance: random.Random) -> Edit:
    """Insert a closure before one of them, which no sample shows."""
    at, down = chance.randrange(len(home.closures)), chance.randint(3, 30)
    now = home.numbered(slice(at), 1) | home.numbered(slice(at, None), at + 2, down)
    return Edit(home.numbered(_ALL, 1), now, down=down)


def _first(home: Home, chance: random.Random) -> Edit:
    """Insert the first of the functions in the place of the next one."""
    (first, line), (_, next_line), *_ = home.closures
    down = chance.randint(3, 30)
    now = {first: Spot(f"{home.name}.func1", next_line - line)}
    rest = slice(1, None)
    now |= home.numbered(rest, 2, next_line - line + down)
    return Edit(home.numbered(rest, 1), now, down=next_line - line + down)


def _first_in_place(home: Home, chance: random.Random) -> Edit:
    """Insert as `_first` does; new lacks the last one, so that both names agree."""
    return _first(home, chance)._replace(gone=frozenset((home.closures[-1][0],)))


def _removed(home: Home, chance: random.Random) -> Edit:
    at, up = chance.randrange(len(home.closures)), -chance.randint(3, 30)
    now = home.numbered(slice(at), 1) | home.numbered(slice(at + 1, None), at + 1, up)
    gone = frozenset((home.closures[at][0],))
    return Edit(home.numbered(_ALL, 1), now, gone, up)


def _into(home: Home, edit: Edit, caller: str) -> Edit:
    """Return the edit with a function inlined that defines closures."""
    end = home.name.rpartition(".")[0]
    now = {
        n: s._replace(name=end + caller + s.name[len(end) :])
        for n, s in edit.new.items()
    }
    return edit._replace(new=now)


def _inlined(home: Home, chance: random.Random) -> Edit:
    """Inline the function that defines them: its caller's numbers count on."""
    first = chance.randint(1, 9)
    edit = Edit(home.numbered(_ALL, 1), home.numbered(_ALL, first))
    return _into(home, edit, ".Caller")


def _inlined_inserted(home: Home, chance: random.Random) -> Edit:
    return _into(home, _inserted(home, chance), ".(*Caller).Run")


VARIANTS: dict[str, Variant] = {
    "nothing": _same,
    "inserted": _inserted,
    "inserted first, sampled": _first,
    "and the last not sampled": _first_in_place,
    "removed": _removed,
    "inlined": _inlined,
    "inlined and inserted": _inlined_inserted,
}


def halves(side: Side, seed: int) -> tuple[Side, Side]:
    """Return two samplings of one build: each CPU sample falls to one of them."""
    chance = np.random.default_rng(seed)
    parts: tuple[list, list] = ([], [])
    for capture in side.captures:
        profile = capture.content
        if [kind.type for kind in profile.sample_types] == ["samples", "cpu"]:
            values, worth = profile.values, profile.period or 1
            first = chance.binomial(values[:, 0], 0.5)
            for part, count in zip(parts, (first, values[:, 0] - first), strict=True):
                kept = np.flatnonzero(count)
                own = np.stack([count[kept], count[kept] * worth], axis=1)
                half = profile.take(kept).with_values(own)
                part.append(replace(capture, content=half))
    return replace(side, captures=tuple(parts[0])), replace(
        side, label="new", captures=tuple(parts[1])
    )


def inputs(*, all_of_them: bool = True) -> Iterator[tuple[str, Side, Side]]:
    """Yield pairs of captures of one program, and captures paired with themselves."""
    for i, (name, base, new) in enumerate(program_pairs()):
        if all_of_them or i % 3 == 0:
            yield name, *_of_cpu(base, new)
            yield f"{name} twice", *halves(new, i)


def _of_cpu(base: Side, new: Side) -> tuple[Side, Side]:
    return tuple(
        replace(s, captures=s.captures[:1]) for s in (base, new)
    )  # program_pairs puts the CPU profile first


def places(side: Side, *, of_all: bool = False) -> dict[str, tuple[str, int]]:
    """Return file and first line of the program's functions that are no closures."""
    found: dict[str, tuple[str, int]] = {}
    for capture in side.captures:
        profile = capture.content
        strings, functions = profile.strings, profile.functions
        used = range(len(functions))
        if not of_all:
            shown = profile.locations.line_function[profile.frames().line]
            used = np.unique(shown).tolist()
        for row in used:
            if row >= 0:
                name = strings[functions.name[row]]
                if of_all or not (is_runtime_like(name) or name[-1:].isdigit()):
                    file = strings[functions.filename[row]]
                    found[name] = file, int(functions.start_line[row])
    return found


def homes(base: Side, new: Side, chance: random.Random) -> list[Home]:
    """Return sets of neighbouring functions of files, to be closures of one function."""
    known = [places(side) for side in (base, new)]
    packages = {package_of(n) for n in known[0]} & {package_of(n) for n in known[1]}
    every: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for side in (base, new):
        for name, (file, line) in places(side, of_all=True).items():
            if not _CLOSURE.search(name):
                every[file].append((name, line))
    files: dict[tuple[str, str], list[tuple[str, int]]] = defaultdict(list)
    for name in {*known[0], *known[1]}:
        file, line = known[1].get(name) or known[0][name]
        if line and package_of(name) in packages - {""} and "[" not in name:
            files[package_of(name), file].append((name, line))
    chosen = []
    for (package, file), functions in sorted(files.items()):
        functions.sort(key=lambda one: one[1])
        if len(functions) >= 3 and chance.random() < 0.5:
            size = chance.randint(3, min(len(functions), 8))
            at = chance.randrange(len(functions) - size + 1)
            stem = "".join(filter(str.isalpha, file.rpartition("/")[2][:-3])) or "x"
            own = functions[at : at + size]
            # No function stands between closures of one.
            between = {n for n, line in every[file] if own[0][1] <= line <= own[-1][1]}
            if between <= {name for name, _ in own}:
                chosen.append(Home(f"{package}.outer{stem}", file, own))
    return chosen


def edited(profile: Profile, spots: Mapping[str, Spot], gone: set[str]) -> Profile:
    """Return a profile with other names and lines, and without some samples."""
    strings, functions = list(profile.strings), profile.functions
    name, start = functions.name.copy(), functions.start_line.copy()
    down = np.zeros(len(functions) + 1, np.int64)
    lost = np.zeros(len(functions) + 1, np.bool_)
    for row, place in enumerate(functions.name.tolist()):
        symbol = strings[place]
        lost[row] = symbol in gone
        if symbol in spots:
            down[row] = spots[symbol].down
        if symbol in spots and spots[symbol].name != symbol:
            name[row] = len(strings)
            strings.append(spots[symbol].name)
    rows = profile.locations.line_function
    whole = replace(
        profile,
        strings=tuple(strings),
        functions=replace(functions, name=name, start_line=start + down[:-1]),
        locations=replace(
            profile.locations,
            line_number=profile.locations.line_number + down[rows],
        ),
    )
    frames = whole.frames()
    hits = np.concatenate(([0], np.cumsum(lost[rows][frames.line])))
    return whole.take(
        np.flatnonzero(hits[frames.offsets[1:]] == hits[frames.offsets[:-1]])
    )


def changed(side: Side, spots: Mapping[str, Spot], gone: set[str]) -> Side:
    """Return the side with `edited` profiles."""
    return replace(
        side,
        captures=tuple(
            replace(c, content=edited(c.content, spots, gone)) for c in side.captures
        ),
    )


def samples(side: Side) -> Counter[str]:
    """Return in how many samples each function stands."""
    counts: Counter[str] = Counter()
    for capture in side.captures:
        profile, seen = capture.content, set()
        frames, functions = profile.frames(), profile.locations.line_function
        names = profile.function_names()
        sample = np.repeat(np.arange(len(profile)), np.diff(frames.offsets))
        for row, function in set(
            zip(sample.tolist(), functions[frames.line].tolist(), strict=True)
        ):
            if function >= 0 and (row, names[function]) not in seen:
                seen.add((row, names[function]))
                counts[names[function]] += int(profile.values[row, 0])
    return counts


def score(
    base: Side, new: Side, variant: Variant, seed: int, told: list | None = None
) -> Counter[str]:
    """Make closures of functions of both sides, and count those paired right.

    ``right``, ``missed`` and ``wrong``; ``right 20`` and ``missed 20`` are of those
    with 20 samples or more on each side, ``right 5`` and ``missed 5`` of 5 to 19.
    """
    chance = random.Random(seed)
    before: Spots = {}
    now: Spots = {}
    gone: set[str] = set()
    known = places(new, of_all=True)
    for home in homes(base, new, chance):
        edit = variant(home, chance)
        before, now, gone = before | edit.base, now | edit.new, gone | edit.gone
        # What stands in a file after an edit moves with it.
        last = home.closures[-1][1]
        for name, (file, line) in known.items():
            if file == home.file and line > last:
                now.setdefault(name, Spot(name, edit.down))
    ours = {f for f, spot in before.items() if f != spot.name}
    old = changed(base, before, {f for f, s in now.items() if f != s.name} - ours)
    current = changed(new, now, gone)
    counts = samples(old), samples(current)
    truth = {
        before[name].name: now[name].name
        for name in ours & now.keys() - gone
        if counts[0][before[name].name] and counts[1][now[name].name]
    }
    theirs = {s.name for f, s in now.items() if f != s.name}
    total: Counter[str] = Counter()
    paired = {b: n for b, n in pairs(old, current) if n in theirs}
    back = {s.name: f for f, s in before.items()}
    forth = {s.name: f for f, s in now.items()}
    for b, n in truth.items():
        least = min(counts[0][b], counts[1][n])
        size = " 20" if least >= 20 else " 5" if least >= 5 else " 1"
        word = "right" if paired.get(b) == n else "missed"
        if told is not None and word == "missed" and least >= 20:
            told.append(
                ("missed", b, n, paired.get(b), back.get(b), counts[0][b], counts[1][n])
            )
        total[word] += 1
        total[word + size] += 1
    for b, n in paired.items():
        if truth.get(b) != n and counts[0][b] and counts[1][n]:
            total["wrong"] += 1
            if told is not None:
                told.append(
                    (b, n, back.get(b), forth.get(n), counts[0][b], counts[1][n])
                )
    return total


def main() -> None:
    """Print the counts of each variant over all pairs."""
    import sys

    everything = list(inputs())
    print(f"{len(everything)} pairs of captures")
    for name, variant in VARIANTS.items():
        total: Counter[str] = Counter()
        told: list = []
        for _, base, new in everything:
            for seed in range(2):
                total += score(base, new, variant, seed, told)
        shares = ", ".join(
            f"{total[f'right {n}']} of {total[f'right {n}'] + total[f'missed {n}']}"
            for n in (20, 5, 1)
        )
        precision = total["right"] / max(total["right"] + total["wrong"], 1)
        print(
            f"{name:26} ≥20, 5-19, <5 samples: {shares}; wrong {total['wrong']}, "
            f"precision {precision:.2%}"
        )
        for line in told[: 12 if "-v" in sys.argv else 0]:
            print("   ", *line)


if __name__ == "__main__":
    main()
