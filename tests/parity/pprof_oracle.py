"""Go's pprof next to ours: the same inputs and flags, both texts."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, fields
from itertools import groupby
from typing import TYPE_CHECKING, Any

from pprofdiff.analysis.profiles.filters import Filters
from pprofdiff.loaders.profiles.encode import encode
from pprofdiff.model.profiles.merge import merge, normalized, subtract
from pprofdiff.report.pprof.text import peek, top
from pprofdiff.report.pprof.view import ViewOptions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pprofdiff.model.profiles.profile import Profile


def flags(options: dict[str, Any]) -> list[str]:
    """Return options as pprof's flags."""
    words = []
    for name, value in options.items():
        if name in ("sort", "granularity"):
            words.append(f"-{value}")
        elif isinstance(value, bool):
            words.append(f"-{name}={str(value).lower()}")
        else:
            words.append(f"-{name}={value}")
    return words


@dataclass(frozen=True)
class Pprof:
    """``go tool pprof``, run in a folder of its own."""

    program: str
    folder: Path

    def run(
        self, *words: object, zone: str = "UTC"
    ) -> subprocess.CompletedProcess[str]:
        """Run pprof on files as they are; never symbolize."""
        environment = {"HOME": str(self.folder), "TZ": zone, "PATH": "/usr/bin:/bin"}
        return subprocess.run(
            [self.program, "-symbolize=none", *map(str, words)],
            capture_output=True, text=True, errors="replace",
            env=environment, check=False,
        )  # fmt: skip

    def text(
        self, new: Sequence[Profile], base: Sequence[Profile] = (),
        side: str = "diff_base", **options: Any,
    ) -> str:  # fmt: skip
        """Return what pprof prints of these profiles; `options` are ours, or ``raw``."""
        view = ["-top"] if not {"peek", "raw"} & set(options) else []
        done = self.run(
            *view, *flags(options),
            *(f"-{side}={self.saved(p, f'base{i}')}" for i, p in enumerate(base)),
            *(self.saved(p, f"new{i}") for i, p in enumerate(new)),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def saved(self, profile: Profile, name: str) -> Path:
        """Write a profile where pprof can read it."""
        path = self.folder / f"{name}.pb"
        path.write_bytes(encode(profile))
        return path


def prepared(
    new: Sequence[Profile], base: Sequence[Profile] = (), side: str = "diff_base",
    *, normalize: bool = False,
) -> Profile:  # fmt: skip
    """Return what pprof would have loaded: merged, normalized, subtracted."""
    profile = merge(new)
    if base:
        subtrahend = merge(base)
        profile = normalized(profile, subtrahend) if normalize else profile
        profile = subtract(profile, subtrahend, label=side == "diff_base")
    return profile


def ours(
    new: Sequence[Profile], base: Sequence[Profile] = (), side: str = "diff_base",
    **options: Any,
) -> str:  # fmt: skip
    """Return what we print of these profiles."""
    normalize = bool(options.pop("normalize", False))
    profile = prepared(new, base, side, normalize=normalize)
    filters = {f.name: options.pop(f.name, "") for f in fields(Filters)}
    pattern = options.pop("peek", None)
    shaped = ViewOptions(filters=Filters(**filters), **options)
    if pattern is not None:
        return peek(profile, pattern, shaped)
    return top(profile, shaped)


_ROW = re.compile(
    r" *(\S+) +(\S+) +(\S+) +(\S+) +(\S+)  (.*?)( \((?:partial-)?inline\))?$"
)
_CALL = re.compile(r" +(\S+) +(\S+) \|   .*$")


def settled(text: str, *, cum: bool = False) -> list[Any]:
    """Return the lines, with those in a set order that pprof puts in a random one.

    pprof walks Go maps. In a table, rows are in a random order if their names and the
    amounts they are sorted by are equal; such rows are sorted here, and their running
    sums left out. In a peek, so are callers (or callees) of equal amounts with
    opposite signs.
    """

    def key(line: str) -> Any:
        if call := _CALL.match(line):
            return "call", call[1].lstrip("-")
        if row := _ROW.match(line):
            return "row", row[4 if cum else 1].lstrip("-"), row[6]
        return line

    done: list[Any] = []
    for kind, group in groupby(text.splitlines(), key):
        lines = list(group)
        if kind[0] == "row" and len(lines) > 1:
            rows = [_ROW.match(line) for line in lines]
            done += sorted(
                (r[1], r[2], r[4], r[5], r[6], r[7] or "") for r in rows if r
            )
        else:
            done += sorted(lines)
    return done


def alike(
    pprof: Pprof, new: Sequence[Profile], base: Sequence[Profile] = (),
    side: str = "diff_base", **options: Any,
) -> str:  # fmt: skip
    """Return our text, which must be pprof's when both are `settled`."""
    got, cum = ours(new, base, side, **options), options.get("sort") == "cum"
    want = pprof.text(new, base, side, **options)
    assert settled(got, cum=cum) == settled(want, cum=cum)
    return got


def blocks(text: str) -> list[Any]:
    """Return a peek's header, and its blocks of callers, node and callees in a set order.

    Two nodes of one name and amount come in a random order; so running sums are left out.
    """
    header, *found = text.split("-" * 58 + "+" + "-" * 13 + "\n")
    parts = []
    for block in found:
        lines = settled(block)
        parts.append(
            [re.sub(r"^( *\S+ +\S+) +\S+(.* {16}\|)", r"\1\2", x) for x in lines]
        )
    return [header, *sorted(parts)]
