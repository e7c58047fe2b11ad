"""How well moved packages are recognised: ``python -m tests.identity.packages_oracle``.

Two captures of one program have thousands of functions in common. The import paths of
some packages are replaced in new, in decoded memory, and both are paired again: what
the names said before is the truth.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

from msgspec.structs import replace

from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.goruntime.names import (
    is_runtime_like,
    is_standard_library,
    package_end,
    package_of,
)
from pprofdiff.inputs.gunzip import decompress
from pprofdiff.loaders.profiles.pprof import decode
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.model.side import Capture, Side
from tests.field.__main__ import kept_aside

TESTS = Path(__file__).parents[1]
FIELD, DATA = TESTS / "field" / "pairs", TESTS / "data"

Pairs = set[tuple[str, str]]
# A package's import path, and a number that makes the path it gets another one.
Variant = Callable[[str, int], str]


def _major(path: str, _: int) -> str:
    return f"{path}/v9"


def _fork(path: str, number: int) -> str:
    return f"example.org/fork{number}/{path.rpartition('/')[2]}"


def _renamed(_: str, number: int) -> str:
    return f"example.org/renamed{number}"


def _vendored(path: str, _: int) -> str:
    return f"example.org/program/third_party/{path}"


VARIANTS: dict[str, Variant] = {
    "major version": _major,
    "fork": _fork,
    "fork renamed": _renamed,
    "copied": _vendored,
}


def program_pairs() -> Iterator[tuple[str, Side, Side]]:
    """Yield the name and both sides of each pair of captures with CPU profiles.

    Pairs that the field test keeps aside are left out.
    """
    folders = {path.parent.name: path.parent for path in FIELD.glob("*/pair.toml")}
    for name, folder in sorted(folders.items()):
        if not kept_aside(name):
            yield from _pair(name, folder / "base", folder / "new")
    for folder in sorted(DATA.glob("*/base")):
        yield from _pair(folder.parent.name, folder, folder.parent / "new")
    versions = sorted((DATA / "versions").iterdir())
    for old, now in pairwise(versions):
        yield from _pair(f"{old.name} {now.name}", old, now)


def _pair(name: str, base: Path, new: Path) -> Iterator[tuple[str, Side, Side]]:
    names = ("cpu.pb.gz", "allocs.pb.gz")
    if all((side / names[0]).exists() for side in (base, new)):
        sides = (
            Side(
                label,
                tuple(
                    Capture(str(path), "profile", _profile(path))
                    for path in (folder / name for name in names)
                    if path.exists()
                ),
            )
            for label, folder in (("base", base), ("new", new))
        )
        yield name, *sides


def _profile(path: Path) -> Profile:
    return decode(decompress(path.read_bytes(), str(path)), str(path))


def functions(side: Side) -> set[str]:
    """Return the names of a side's functions."""
    return {
        n for capture in side.of("profile") for n in capture.content.function_names()
    }


def hidden(side: Side, names: dict[str, str]) -> Side:
    """Return the side with other names of functions."""
    return replace(
        side,
        captures=tuple(
            replace(capture, content=_renamed_in(capture.content, names))
            for capture in side.captures
        ),
    )


def _renamed_in(profile: Profile, names: dict[str, str]) -> Profile:
    # A name may be a file or a label too: functions get strings of their own.
    strings = list(profile.strings)
    own = profile.functions.name.copy()
    for i, place in enumerate(own.tolist()):
        if strings[place] in names:
            own[i] = len(strings)
            strings.append(names[strings[place]])
    return replace(
        profile,
        strings=type(profile.strings)(strings),
        functions=replace(profile.functions, name=own),
    )


def pairs(base: Side, new: Side) -> Pairs:
    """Return the functions that are paired, as (base, new), over all profiles."""
    paired: Pairs = set()
    for diff in compare_sides(base, new).profiles:
        rows = diff.paired_functions
        for names, place in ((rows.sides[0].names, 0),):
            new_name = dict(
                zip(rows.union[1].tolist(), rows.sides[1].names, strict=True)
            )
            paired |= {
                (name, new_name[row])
                for name, row in zip(names, rows.union[place].tolist(), strict=True)
                if row in new_name
            }
    return paired


def score(base: Side, new: Side, variant: Variant, seed: int) -> Counter[str]:
    """Hide a fifth of the packages and count functions paired right, wrong and not.

    Counted apart: functions of packages with three or more names on both sides
    (``right``, ``missed``) and of smaller ones (``right small``, ``missed small``).
    """
    chance = random.Random(seed)
    names = {n for n in functions(new) if not is_runtime_like(n)}
    packages = sorted({package_of(n) for n in names} - {"", "main"})
    packages = [p for p in packages if not is_standard_library(p)]
    chosen = {p for p in packages if chance.random() < 1 / 5} or set(
        packages[seed % max(len(packages), 1) :][:1]
    )
    path = {p: variant(p, i) for i, p in enumerate(packages) if p in chosen}
    other = {
        n: path[package_of(n)] + n[package_end(n) :]
        for n in names
        if package_of(n) in path
    }
    back = {new_name: old for old, new_name in other.items()}
    before, after = pairs(base, new), pairs(base, hidden(new, other))
    truth = {(b, n) for b, n in before if b == n and n in other}
    size = Counter(package_of(n) for _, n in truth)
    counts: Counter[str] = Counter()
    named = {(b, back.get(n, n)) for b, n in after}
    for b, n in truth:
        got = "right" if (b, n) in named else "missed"
        counts[got if size[package_of(n)] >= 3 else f"{got} small"] += 1
    counts["wrong"] = len(named - before)
    counts["packages"] = len(chosen)
    return counts


def main() -> None:
    """Print the counts of each variant over all pairs."""
    inputs = list(program_pairs())
    print(f"{len(inputs)} pairs of captures")
    for name, variant in VARIANTS.items():
        total: Counter[str] = Counter()
        for title, base, new in inputs:
            for seed in range(3):
                counts = score(base, new, variant, seed)
                if counts["wrong"]:
                    print(f"  {title}, seed {seed}: {counts['wrong']} wrong")
                total += counts
        right = total["right"] + total["right small"]
        print(
            f"{name:14} {total['packages']:4} packages, right {total['right']} of "
            f"{total['right'] + total['missed']} (in packages of one or two functions "
            f"{total['right small']} of {total['right small'] + total['missed small']}), "
            f"wrong {total['wrong']}, precision "
            f"{right / max(right + total['wrong'], 1):.2%}"
        )


if __name__ == "__main__":
    main()
