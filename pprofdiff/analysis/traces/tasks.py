"""What the program annotates: durations of user tasks and regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from pprofdiff.analysis.traces.quantiles import (
    GroupQuantiles,
    Quantiles,
    grouped_quantiles,
)
from pprofdiff.model.csr import grouped
from pprofdiff.model.traces.trace import Regions, Tasks, Trace

if TYPE_CHECKING:
    import pandas as pd


class Durations(Struct, frozen=True, eq=False):
    """User tasks or regions: how many by name, sorted, and how long they last.

    `durations` are of those that begin and end in the trace.
    """

    counts: dict[str, int]
    durations: GroupQuantiles

    def to_frame(self) -> pd.DataFrame:
        """Return a row per name: count, complete, quantiles (Int64 ns, or missing)."""
        import pandas as pd

        rows = [self.durations.get(name) for name in self.counts]
        complete = [0 if row is None else row.count for row in rows]
        columns: dict[str, object] = {
            "name": pd.Series(list(self.counts), dtype="str"),
            "count": np.array(list(self.counts.values()), np.int64),
            "complete": np.array(complete, np.int64),
        }
        for field in fields(Quantiles)[1:]:
            values = [None if row is None else getattr(row, field.name) for row in rows]
            columns[field.name] = pd.array(values, "Int64")
        return pd.DataFrame(columns)


def tasks(*traces: Trace) -> Durations:
    """Return the durations of user tasks by type, "" if begun before the trace."""
    return _durations([(trace, trace.tasks) for trace in traces])


def regions(*traces: Trace) -> Durations:
    """Return the durations of user regions by type; one left open is not complete."""
    return _durations([(trace, trace.regions) for trace in traces])


def _durations(parts: Sequence[tuple[Trace, Tasks | Regions]]) -> Durations:
    """Return durations by name; a time of -1 is unknown."""
    place: dict[str, int] = {}
    groups = []
    for trace, rows in parts:
        names, of_row = grouped(rows.name)
        texts_of = [trace.strings[i] for i in names.tolist()]
        places = [place.setdefault(text, len(place)) for text in texts_of]
        groups.append(np.array(places, np.int64)[of_row])
    group, texts = np.concatenate(groups), tuple(place)
    start_ns = np.concatenate([rows.start_ns for _, rows in parts])
    end_ns = np.concatenate([rows.end_ns for _, rows in parts])
    whole = (start_ns >= 0) & (end_ns >= 0)
    times = grouped_quantiles(group[whole], (end_ns - start_ns)[whole], texts)
    counts = dict(zip(texts, np.bincount(group).tolist(), strict=True))
    return Durations(dict(sorted(counts.items())), times)
