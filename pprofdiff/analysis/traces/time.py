"""The ledger of goroutine time: root function × state, by side and run.

Every nanosecond of a goroutine's life in a trace is in exactly one cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct

from pprofdiff.analysis.ledger.views import Dimension, Ledger, View
from pprofdiff.analysis.traces.goroutines import STATE_TIMES
from pprofdiff.analysis.traces.side import TraceSide
from pprofdiff.model.arrays import Column

BLOCKED = "blocked."
"""The prefix of a blocked state; the rest is Go's reason, "" for none."""
UNKNOWN = "unknown"
"""The state of time that is no goroutine's: until tracing started."""


class GoroutineTime(Struct, frozen=True, eq=False):
    """Time of all goroutines in ns.

    The dimensions of `ledger` are ``root``, a row of the paired root functions;
    ``state``, an index of `states`; and ``program``, 0 for goroutines of the runtime
    and those that write the trace, 1 for all others.
    """

    ledger: Ledger
    states: tuple[str, ...]

    def by_state(self, roots: Sequence[int] | None = None) -> dict[str, View]:
        """Return the time of the program's goroutines in each state, one view each.

        `roots` selects root functions. States without time are omitted.
        """
        view = self.ledger.by("program", "root", "state")
        view = view.where(view["program"] == 1)
        if roots is not None:
            view = view.where(np.isin(view["root"], roots))
        view = view.by("state")
        return {
            self.states[code]: view.where(view["state"] == code)
            for code in view["state"].tolist()
        }


def goroutine_time(
    sides: tuple[TraceSide, TraceSide],
    rows: tuple[Mapping[str, int], Mapping[str, int]],
) -> GoroutineTime:
    """Return the ledger of two sides; `rows` has the row of each root function."""
    reasons = sorted({r for side in sides for r in side.groups.reasons})
    states = (*STATE_TIMES, *(f"{BLOCKED}{reason}" for reason in reasons))
    cells = [
        _cells(side, of_side, states) for side, of_side in zip(sides, rows, strict=True)
    ]
    size = 1 + max((row for of_side in rows for row in of_side.values()), default=-1)
    sizes = {"root": size, "state": len(states), "program": 2}
    dimensions = {
        name: Dimension(count, (cells[0][0][name], cells[1][0][name]))
        for name, count in sizes.items()
    }
    return GoroutineTime(Ledger((cells[0][1], cells[1][1]), dimensions), states)


def _cells(
    side: TraceSide, rows: Mapping[str, int], states: Sequence[str]
) -> tuple[dict[str, Column], Column]:
    """Return the codes of a side's cells, and their times: (cells, runs) in ns."""
    place = {state: code for code, state in enumerate(states)}
    codes: dict[str, list[Column]] = {"root": [], "state": [], "program": []}
    times = []
    for run, part in enumerate(side.parts):
        groups = part.groups
        columns = [getattr(groups, column) for column in STATE_TIMES.values()]
        table = np.column_stack([*columns, groups.block_ns])
        named = [*STATE_TIMES, *(f"{BLOCKED}{reason}" for reason in groups.reasons)]
        state = np.array([place[name] for name in named], np.int64)
        root = np.array([rows[name] for name in groups.names], np.int64)
        own = ~(groups.system | groups.tracing)
        row, column = np.nonzero(table)
        codes["root"].append(root[row])
        codes["state"].append(state[column])
        codes["program"].append(own[row].astype(np.int64))
        values = np.zeros((len(row), len(side.parts)), np.int64)
        values[:, run] = table[row, column]
        times.append(values)
    joined = {name: np.concatenate(parts) for name, parts in codes.items()}
    return joined, np.concatenate(times)
