"""Sum profiles of one kind, and keep the sums of each unit, such as a host.

All units share one set of tables and stacks: a unit adds only its values to memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from pprofdiff.model.arrays import Column, Index
from pprofdiff.model.csr import grouped, offsets_of, sums
from pprofdiff.model.profiles.merge import equal_samples
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.model.profiles.tables import joined, pruned, with_used_strings

# Up to this many cells per entry, a table of all cells is faster than a sort.
_SPARSE = 8


class Span(NamedTuple):
    """Measurement metadata of a unit's profiles; None if not recorded.

    `time_ns` is the earliest, `duration_ns` the sum, `period` the longest.
    """

    time_ns: int | None
    duration_ns: int | None
    period: int | None

    def plus(self, other: Span) -> Span:
        """Return the combination of both."""
        times = [t for t in (self.time_ns, other.time_ns) if t is not None]
        return Span(
            min(times, default=None),
            (self.duration_ns or 0) + (other.duration_ns or 0) or None,
            max(self.period or 0, other.period or 0) or None,
        )


@dataclass(frozen=True, slots=True, eq=False)
class PerUnit:
    """The sum of profiles with the same sample types, in total and by unit.

    `profile`: the sum over all units. `spans`: the measurement metadata of each unit,
    by name. `sample`, `unit`, `values`: the nonzero sums by unit, one entry each:
    values (int64, one per sample type) of a sample of `profile` (int32 index) in a unit
    (int32 index into `spans`). No pair of sample and unit occurs twice.
    """

    profile: Profile
    spans: dict[str, Span]
    sample: Index
    unit: Index
    values: Column

    def profiles(self) -> dict[str, Profile]:
        """Return each unit's profile, by name, over shared tables and stacks."""
        shape = len(self.spans), *self.profile.values.shape
        values = np.zeros(shape, np.int64)
        values[self.unit, self.sample] = self.values
        return {
            name: replace(self.profile, values=own, **span._asdict())
            for (name, span), own in zip(self.spans.items(), values, strict=True)
        }


def per_unit(units: Sequence[str], profiles: Sequence[Profile]) -> PerUnit:
    """Return the sum of profiles (at least one), with the unit of each."""
    spans: dict[str, Span] = {}
    for name, profile in zip(units, profiles, strict=True):
        span = Span(profile.time_ns, profile.duration_ns, profile.period)
        spans[name] = spans[name].plus(span) if name in spans else span
    place = {name: at for at, name in enumerate(spans)}
    whole = joined(profiles)
    own = np.repeat([place[name] for name in units], [len(p) for p in profiles])
    return _summed(whole, spans, np.arange(len(whole)), own, whole.values)


def added(
    parts: Sequence[PerUnit], name: Callable[[str], str] | None = None
) -> PerUnit:
    """Return the sum of parts (at least one); `name` maps units to new names."""
    if len(parts) == 1 and name is None:
        return parts[0]
    spans: dict[str, Span] = {}
    places: dict[str, int] = {}
    owns = []
    for part in parts:
        own = []
        for unit, span in part.spans.items():
            new = unit if name is None else name(unit)
            spans[new] = spans[new].plus(span) if new in spans else span
            own.append(places.setdefault(new, len(places)))
        owns.append(np.array(own, np.int64)[part.unit])
    starts = offsets_of(np.array([len(part.profile) for part in parts]))[:-1].tolist()
    samples = [
        part.sample + np.int64(start) for part, start in zip(parts, starts, strict=True)
    ]
    return _summed(
        joined([part.profile for part in parts]),
        spans,
        np.concatenate(samples),
        np.concatenate(owns),
        np.concatenate([part.values for part in parts]),
    )


def _summed(
    whole: Profile, spans: dict[str, Span], sample: Column, unit: Column, values: Column
) -> PerUnit:
    """Sum entries by equal samples and unit; zero sums get no entry."""
    first, group = equal_samples(whole)
    cells = group[sample] * len(spans) + unit
    size = len(first) * len(spans)
    if size > _SPARSE * len(cells):
        kept, cells = grouped(cells)
        size = len(kept)
    else:
        kept = np.arange(size)
    columns = [sums(cells, column, size) for column in values.T]
    total = np.stack(columns, axis=1) if columns else np.zeros((size, 0), np.int64)
    some = np.flatnonzero(total.any(axis=1))
    of_sample, of_unit = np.divmod(kept[some], len(spans))
    total = total[some]
    used = np.zeros(len(first), np.bool_)
    used[of_sample] = True
    place = np.cumsum(used) - 1
    of_sample = place[of_sample]
    rows = first[used]
    distinct = whole if len(rows) == len(whole) else whole.take(rows)
    sizes = [sums(of_sample, column, len(rows)) for column in total.T]
    distinct = distinct.with_values(
        np.stack(sizes, axis=1) if sizes else np.zeros((len(rows), 0), np.int64)
    )
    return PerUnit(
        with_used_strings(pruned(distinct)),
        spans,
        of_sample.astype(np.int32),
        of_unit.astype(np.int32),
        total,
    )
