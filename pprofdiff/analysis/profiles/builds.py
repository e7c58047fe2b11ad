"""How the builds of two sides differ, apart from their sources.

Build settings show it if known (`Side.settings`), else functions do: a race build calls
its detector at each memory access, a build without optimizations has no inlined frames.
Coverage counters are added to without a call, so only their lines show. GOAMD64 shows
where samples are in assembly that depends on it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import methodcaller
from typing import NamedTuple

import numpy as np

from pprofdiff.analysis.policy import (
    ENOUGH,
    FEW_SAMPLES,
    MOST,
    NAMED,
    NOTICED,
    SEVERAL,
)
from pprofdiff.analysis.profiles.caveats import releases_apart
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.side import ProfileSide
from pprofdiff.goruntime.names import is_runtime_like, is_standard_library, package_of
from pprofdiff.goruntime.readable import short
from pprofdiff.goruntime.versions import format_go_version
from pprofdiff.model.arrays import Mask
from pprofdiff.model.csr import any_in_row
from pprofdiff.model.kept import kept
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.model.side import Side

# What functions of a build with such a flag begin with, and what it costs.
_DETECTORS = {
    "-race": (("racecall", "__tsan", "runtime.race"), "2 to 20 times the time"),
    "-msan": (("__msan", "runtime.msan"), "about 3 times the time"),
    "-asan": (("__asan", "runtime.asan"), "about twice the time"),
}
# Settings that change what code costs, in the order of how much.
_SETTINGS = (
    *("-race", "-msan", "-asan", "-cover", "-covermode", "-gcflags", "-pgo"),
    *("GOARCH", "GOOS", "GOAMD64", "GOARM64", "GOARM", "GOEXPERIMENT", "CGO_ENABLED"),
)
# What writes the counters of a build with -cover (Go 1.20 and later).
_COVERAGE = ("runtime/coverage.", "internal/coverage/", "internal/coverage.")
# Which parts of assembly are built is chosen by these settings.
_LEVELS = {"amd64": "GOAMD64", "arm64": "GOARM64"}
_ARCHITECTURE = re.compile(
    r"_(386|amd64|arm|arm64|loong64|mips64x|mipsx|ppc64x|riscv64|s390x|wasm)\.s$"
)


def build_differences(base: Side, new: Side, cpu: ProfileDiff | None) -> list[str]:
    """Return how the builds differ, each as a phrase; empty if nothing shows it."""
    if cpu is None or not cpu.grouped:
        return []
    sides = cpu.base, cpu.new
    if base.settings and new.settings:
        found = list(_of_settings(base, new))
    else:
        found = [
            *_of_flags(cpu),
            *_of_architecture(*sides),
            *_of_assembly(*sides),
        ]
    return [*found, *_of_releases(cpu, base, new)]


def flags_unknown(base: Side, new: Side, cpu: ProfileDiff | None) -> bool:
    """Return whether two builds may differ in flags that nothing at hand shows."""
    if cpu is None or not cpu.grouped or (base.settings and new.settings):
        return False
    ids = [
        {one.build_id for one in side.profile.mappings[:1]}
        for side in (cpu.base, cpu.new)
    ]
    return all(map(any, ids)) and ids[0] != ids[1]


def instrumented(base: Side, new: Side, cpu: ProfileDiff | None) -> bool:
    """Return whether one side alone has a detector, coverage, or no optimizations."""
    if cpu is None or not cpu.grouped:
        return False
    if base.settings and new.settings:
        return any(
            base.settings.get(flag) != new.settings.get(flag)
            for flag in (*_DETECTORS, "-cover", "-gcflags")
        )
    return bool(_of_flags(cpu))


@kept
def _of_flags(cpu: ProfileDiff) -> tuple[str, ...]:
    """Return what functions and frames show of flags that make all code cost more."""
    return (
        *_of_detectors(cpu.base, cpu.new),
        *_if_one_has(cpu.base, cpu.new, _COVERAGE, "-cover"),
        *_of_inlining(cpu),
    )


def _of_settings(base: Side, new: Side) -> Iterator[str]:
    for name in _SETTINGS:
        old, now = base.settings.get(name, ""), new.settings.get(name, "")
        if name == "-pgo":
            # The profile's path says nothing.
            old, now = ("true" if value else "" for value in (old, now))
        if old != now and "true" in (old, now):
            yield _only(new.label if now else base.label, name)
        elif old != now:
            yield f"{name} {old or 'none'} → {now or 'none'}"


def _of_detectors(base: ProfileSide, new: ProfileSide) -> Iterator[str]:
    if min(_samples(side.profile) for side in (base, new)) < ENOUGH:
        return
    for flag, (begins, _) in _DETECTORS.items():
        yield from _if_one_has(base, new, begins, flag)


def _if_one_has(
    base: ProfileSide, new: ProfileSide, begins: tuple[str, ...], flag: str
) -> Iterator[str]:
    """Yield that a side is built with `flag` if it alone has functions so begun."""
    names = [side.profile.function_names() for side in (base, new)]
    if names[0] == names[1]:
        return
    has = [any(map(methodcaller("startswith", begins), of_side)) for of_side in names]
    if has[0] != has[1]:
        yield _only((base if has[0] else new).label, flag)


def _only(label: str, flag: str) -> str:
    cost = f", which takes {_DETECTORS[flag][1]}" if flag in _DETECTORS else ""
    return f"only {label} is built with {flag}{cost}"


def _samples(profile: Profile) -> int:
    return int(np.abs(profile.values[:, 0]).sum())


class _Inlining(NamedTuple):
    """The program's functions that one side inlines, and those that it calls.

    They are masks of the rows of both sides' functions. `share` is the part of all
    samples with an inlined frame, of any package.
    """

    inlined: Mask
    called: Mask
    share: float


def _of_inlining(cpu: ProfileDiff) -> Iterator[str]:
    sides = cpu.base, cpu.new
    if min(_samples(side.profile) for side in sides) < ENOUGH:
        return
    found = [_inlining(cpu, side) for side in (0, 1)]
    for side, (one, other) in enumerate((found, found[::-1])):
        nothing = not one.share and other.share >= MOST
        called = np.count_nonzero(one.called & other.inlined)
        calls = not one.inlined.any() and called >= SEVERAL
        if nothing or calls:
            label = sides[side].label
            of = "" if nothing else " of the program"
            yield f"{label} has no inlined frames{of}, as built with -gcflags=-l or -N"


def _inlining(cpu: ProfileDiff, side: int) -> _Inlining:
    functions = cpu.paired_functions
    profile, of_line = (cpu.base, cpu.new)[side].profile, functions.of_lines[side]
    locations = profile.locations
    inner = np.ones(len(of_line), np.bool_)
    inner[locations.line_offsets[1:] - 1] = False
    sampled = np.zeros(len(locations.line_offsets) - 1, np.bool_)
    sampled[profile.stack_locations] = True
    seen = np.repeat(sampled, np.diff(locations.line_offsets))
    own = functions.own[of_line] & seen
    inlined, called = np.zeros((2, len(functions.names)), np.bool_)
    inlined[of_line[own & inner]] = called[of_line[own & ~inner]] = True
    several = any_in_row(inner, locations.line_offsets)
    met = any_in_row(several[profile.stack_locations], profile.stack_offsets)
    values = np.abs(profile.values[:, 0])
    return _Inlining(inlined, called, float(values[met].sum()) / max(values.sum(), 1))


def _of_architecture(base: ProfileSide, new: ProfileSide) -> Iterator[str]:
    found = [_architecture(side.profile) for side in (base, new)]
    if all(found) and found[0] != found[1]:
        yield f"GOARCH {found[0]} → {found[1]}"


@kept
def _architecture(profile: Profile) -> str:
    found = Counter(
        m[1] for file in profile.files() if (m := _ARCHITECTURE.search(file))
    )
    return next(iter(found)) if len(found) == 1 else ""


def _of_assembly(base: ProfileSide, new: ProfileSide) -> Iterator[str]:
    """Yield a function of Go's assembly whose instructions lie elsewhere in it.

    The same release has the same assembly; GOAMD64 chooses parts of it (hasAVX2 in
    internal/bytealg).
    """
    if max(len(side.runs) for side in (base, new)) > 1:
        # Each program has its own addresses.
        return
    levels = {_LEVELS.get(_architecture(side.profile), "") for side in (base, new)}
    level = levels.pop()
    if levels or not level or releases_apart(base, new) is not None:
        return
    sides = [_assembly(side.profile) for side in (base, new)]
    for name in sorted(sides[0].keys() & sides[1].keys()):
        old, now = (side[name] for side in sides)
        moved = Counter(now[line] - old[line] for line in old.keys() & now.keys())
        # A line that is a macro has several instructions: a sample may be of any.
        shared = [by for by, lines in moved.items() if lines > 1]
        # The leaf has its own address, its callers the one before they return to.
        if shared and max(shared) - min(shared) > 1:
            yield (
                f"{short(name)} is assembly, and its machine code differs: another "
                f"{level} or Go release"
            )
            return


def _assembly(profile: Profile) -> dict[str, dict[int, int]]:
    places, functions = profile.locations, profile.functions
    files = set(functions.filename.tolist())
    assembly = [i for i in files if profile.strings[i].endswith(".s")]
    function = places.line_function[places.line_offsets[:-1]]
    file = np.append(functions.filename, 0)[function]
    found: dict[str, dict[int, set[int]]] = {}
    for row in np.flatnonzero(np.isin(file, assembly)).tolist():
        name = profile.strings[functions.name[function[row]]]
        line = int(places.line_number[places.line_offsets[row]])
        lines = found.setdefault(name, {})
        lines.setdefault(line, set()).add(int(places.address[row]))
    return {
        name: {line: min(at) for line, at in lines.items() if len(at) == 1}
        for name, lines in found.items()
        if is_runtime_like(name) or is_standard_library(package_of(name))
    }


def _of_releases(cpu: ProfileDiff, base: Side, new: Side) -> Iterator[str]:
    """Yield the releases, and functions of one alone if the program is the same."""
    exact = [side.settings.get("go", "") for side in (base, new)]
    spans = releases_apart(cpu.base, cpu.new)
    if all(exact) and _release(exact[0]) != _release(exact[1]):
        words = f"go{exact[0]} → go{exact[1]}"
    elif spans is not None:
        words = " → ".join(format_go_version(*span) for span in spans)
    else:
        return
    gone, added, same = _one_sided(cpu)
    moved = " and ".join(
        f"only {side.label} has {', '.join(map(short, names[:NAMED]))}"
        for side, names in ((cpu.base, gone), (cpu.new, added))
        if names
    )
    if same and moved:
        words += (
            "; samples show the same functions of the program; of the runtime and the "
            f"standard library, {moved}"
        )
    yield words


def _release(version: str) -> list[str]:
    return version.split(".")[:2]


def _one_sided(cpu: ProfileDiff) -> tuple[Sequence[str], Sequence[str], bool]:
    """Return Go's functions of base alone and of new alone, the costliest first.

    And whether the program has none on one side alone. A function with few samples may
    be missing on the other side by chance.
    """
    names = cpu.paired_functions.names
    base, new = cpu.paired_functions.raw("cum")
    same, found = True, []
    for side, one, other in ((0, base, new), (1, new, base)):
        total = cpu.totals[side]
        samples = _samples((cpu.base, cpu.new)[side].profile)
        least = max(NOTICED * total, FEW_SAMPLES * total / max(samples, 1))
        rows = np.flatnonzero((one >= least) & (other == 0))
        rows = rows[np.argsort(-one[rows], kind="stable")]
        # A package that moved keeps its name, as crypto/internal/fips140/sha256.
        known = {short(names[row]) for row in np.flatnonzero(other).tolist()}
        there = [names[row] for row in rows.tolist() if short(names[row]) not in known]
        same &= all(
            is_runtime_like(name) or is_standard_library(package_of(name))
            for name in there
        )
        found.append(there)
    return found[0], found[1], same
