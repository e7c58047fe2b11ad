"""What ``go tool pprof`` reports on: the filtered profile, its total and its header."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

import numpy as np

from pprofdiff.analysis.profiles.filters import (
    NO_FILTERS,
    Filters,
    filtered,
    pruned_frames,
)
from pprofdiff.analysis.profiles.nodes import outermost
from pprofdiff.model.profiles.merge import base_samples
from pprofdiff.units import label, percentage, printable, scale

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from pprofdiff.model.profiles.profile import Profile


def no_warning(_: str) -> None:
    """Ignore a warning."""


@dataclass(frozen=True, slots=True)
class ViewOptions:
    """What a view shows of a profile, in ``go tool pprof``'s terms.

    `sample_index` is the sample type, by name or position, "" for the profile's
    default; with `mean`, values are divided by the first type's. `unit` is
    ``minimum`` for one that fits. A row is one of `granularity`: functions,
    filefunctions, files, lines or addresses. With `noinlines`, inlined functions are
    charged to their callers; with `relative_percentages`, percentages are of what the
    `filters` left; with `drop_negative`, rows with negative values are left out. If
    `trim`, there are up to `nodecount` rows (0 or less: no limit), and those below
    `nodefraction` and edges below `edgefraction` of the total are left out.
    """

    filters: Filters = NO_FILTERS
    sample_index: str = ""
    mean: bool = False
    unit: str = "minimum"
    granularity: str = "functions"
    noinlines: bool = False
    relative_percentages: bool = False
    drop_negative: bool = False
    sort: Literal["flat", "cum"] = "flat"
    nodecount: int = -1
    nodefraction: float = 0.005
    edgefraction: float = 0.001
    trim: bool = True


@dataclass(frozen=True, eq=False)
class View:
    """A profile as one pprof report sees it.

    `values` (int64) are of the chosen type; `divisors` (int64) of the first type if
    means are requested; `is_base` (bool) marks a diff's base samples. `total` is what
    percentages refer to.
    """

    profile: Profile
    values: NDArray[np.int64]
    divisors: NDArray[np.int64] | None
    is_base: NDArray[np.bool_]
    total: int
    type: str
    unit: str


def view(profile: Profile, options: ViewOptions, warn: Callable[[str], None]) -> View:
    """Return the view of a profile under the options.

    Raises UsageError for filters or a sample index that cannot be used.
    """
    profile = pruned_frames(profile)
    index = profile.sample_index(options.sample_index)
    kind = profile.sample_types[index]
    chosen = filtered(profile, options.filters)
    for warning in chosen.warnings:
        warn(warning)
    whole = chosen.profile if options.relative_percentages else profile
    total = _total(whole, index, mean=options.mean)
    shown = outermost(chosen.profile) if options.noinlines else chosen.profile
    return View(
        profile=shown,
        values=shown.values[:, index],
        divisors=shown.values[:, 0] if options.mean else None,
        is_base=base_samples(shown),
        total=total,
        type=f"mean_{kind.type}" if options.mean else kind.type,
        unit=kind.unit,
    )


def _total(profile: Profile, index: int, *, mean: bool) -> int:
    """Return the sum of absolute values, of base alone if the profile is a diff.

    With `mean`, it is divided by the sum of the first type. In a diff, pprof divides by
    base's counts as they are, negative; here the mean is base's (deviation 2.8.3).
    """
    amounts = np.abs(profile.values[:, index])
    counts = profile.values[:, 0]
    base = base_samples(profile)
    based = int(amounts[base].sum())
    total, count = int(amounts.sum()), int(counts.sum())
    if based > 0:
        total, count = based, abs(int(counts[base].sum()))
    if not mean or count == 0:
        return total
    quotient = total // abs(count)
    return quotient if count > 0 else -quotient


def header(seen: View, unit: str, options: ViewOptions) -> list[str]:
    """Return the lines that describe the profile and the active filters."""
    profile = seen.profile
    lines = []
    if profile.mappings:
        main = profile.mappings[0]
        if main.file:
            lines.append(f"File: {posixpath.basename(main.file.rstrip('/')) or '/'}")
        if main.build_id:
            lines.append(f"Build ID: {main.build_id}")
    lines += [c for c in profile.comments if not c.startswith("#")]
    if seen.type:
        lines.append(f"Type: {seen.type}")
    if profile.doc_url:
        lines.append(f"Doc: {profile.doc_url}")
    if profile.time_ns:
        time = datetime.fromtimestamp(profile.time_ns // 10**9, UTC).astimezone()
        lines.append(f"Time: {time:%Y-%m-%d %H:%M:%S %Z}")
    if profile.duration_ns:
        lines.append(_duration(seen, profile.duration_ns, unit))
    if active := options.filters.active:
        lines += ["Active filters:", *(f"   {_shortened(a)}" for a in active)]
    return lines


def text_of(lines: Iterable[str]) -> str:
    """Return the lines as text; no name breaks a line or moves the cursor."""
    return "".join(
        "\t".join(printable(part) for part in line.split("\t")) + "\n" for line in lines
    )


def _duration(seen: View, duration_ns: int, unit: str) -> str:
    in_ns, name = scale(seen.total, seen.unit, "nanoseconds")
    share = ""
    if name == "ns" and in_ns != 0:
        share = f"({percentage(int(in_ns), duration_ns)})"
    length, total = (
        label(duration_ns, "nanoseconds"),
        label(seen.total, seen.unit, unit),
    )
    return f"Duration: {length}, Total samples = {total} {share}"


def _shortened(text: str) -> str:
    data = text.encode()
    return text if len(data) <= 80 else data[:80].decode(errors="replace") + "…"
