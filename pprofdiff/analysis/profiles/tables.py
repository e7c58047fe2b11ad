"""Flat and cum of both sides by function, line, file, package or stack."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.analysis.judge.counts import CountModel
from pprofdiff.analysis.judge.judgement import Judgement, Runs
from pprofdiff.analysis.judge.scaling import Normalization
from pprofdiff.goruntime.names import is_standard_library, package_of

if TYPE_CHECKING:
    import pandas as pd

Values = NDArray[np.int64]
Pair = tuple[Values, Values]
Floats = NDArray[np.float64]

ValueColumn = Literal["flat", "cum"]
Status = Literal["both", "new", "gone"]

STOPPED = "runtime.asyncPreempt"
"""The top frame of a goroutine that was preempted by a signal."""

VALUE_COLUMNS: tuple[ValueColumn, ...] = ("flat", "cum")
STATUSES: tuple[Status, ...] = ("both", "new", "gone")
"""Whether both sides have a row, only new, or only base; see `Table.status`."""


class Table(Struct, frozen=True, eq=False, dict=True):
    """One row for each function (or line, file, package, stack) that has a value.

    `noun` is the word for a row. `names` are new's names, or base's if only base has
    the row; `base_names` is base's name if it differs. `probable` marks rows paired by
    samples alone; `choices` lists the names in new that a function gone from base may
    now have. `flat` and `cum` are the raw values of (base, new): int64 of shape (rows,
    runs), 0 if a side has no such row.
    """

    noun: str
    names: list[str]
    base_names: list[str | None]
    probable: list[bool]
    files: list[str]
    flat: Pair
    cum: Pair
    normalization: Normalization
    model: CountModel | None
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.names)

    def raw(self, column: ValueColumn) -> Pair:
        """Return (base, new) of ``flat`` or ``cum``."""
        base, new = (side.sum(axis=1) for side in self._of(column))
        return base, new

    def _of(self, column: ValueColumn) -> Pair:
        return self.flat if column == "flat" else self.cum

    def status(self) -> NDArray[np.int8]:
        """Return each row's position in `STATUSES`."""
        base, new = (
            (flat != 0) | (cum != 0)
            for flat, cum in zip(self.raw("flat"), self.raw("cum"), strict=True)
        )
        return np.where(base & new, 0, np.where(new, 1, 2)).astype(np.int8)

    def scaled(self, column: ValueColumn) -> tuple[Floats, Floats]:
        """Return (base, new) of ``flat`` or ``cum`` after scaling."""
        return self.normalization.scaled(*self.raw(column))

    def scaled_delta(self, column: ValueColumn) -> Floats:
        """Return new − base of ``flat`` or ``cum`` after scaling."""
        base, new = self.scaled(column)
        return new - base

    def columns(self) -> dict[str, list[int] | list[float]]:
        """Return raw integers and scaled deltas of each row, by column name."""
        found: dict[str, list[int] | list[float]] = {}
        for column in VALUE_COLUMNS:
            base, new = self.raw(column)
            found[f"base_{column}"] = base.tolist()
            found[f"new_{column}"] = new.tolist()
            found[f"delta_{column}"] = (new - base).tolist()
        for column in VALUE_COLUMNS:
            found[f"delta_{column}_scaled"] = self.scaled_delta(column).tolist()
        return found

    def judge(self, column: ValueColumn) -> Judgement | None:
        """Judge each row's delta; None without a noise model.

        `STOPPED` is always noise: between runs of one build it went from 5% to 25% of
        the samples, by how busy the machine was.
        """
        if column not in self._judged:
            self._judged[column] = self._judge(column)
        return self._judged[column]

    @cached_property
    def _judged(self) -> dict[ValueColumn, Judgement | None]:
        return {}

    def _judge(self, column: ValueColumn) -> Judgement | None:
        if self.model is None:
            return None
        judged = self.model.rows(self.runs(column))
        if STOPPED not in self.names:
            return judged
        at = np.array([name == STOPPED for name in self.names], np.bool_)
        return replace(judged, noise=judged.noise | at, known=judged.known | at)

    def runs(self, column: ValueColumn) -> Runs[Values]:
        """Return a column of both sides per run."""
        base, new = self._of(column)
        return Runs(tuple(base.T), tuple(new.T))

    def order(self, *columns: ValueColumn) -> NDArray[np.int64]:
        """Return rows by descending |scaled delta| of the columns, then by name."""
        by_name = sorted(range(len(self)), key=self.names.__getitem__)
        rank = np.empty(len(self), np.int64)
        rank[by_name] = np.arange(len(self))
        sizes = [-np.abs(self.scaled_delta(column)) for column in columns]
        return np.lexsort((rank, *reversed(sizes))).astype(np.int64)

    def take(self, rows: NDArray[np.integer]) -> Table:
        """Return the chosen rows in the given order."""
        at = rows.tolist()
        return replace(
            self,
            names=list(map(self.names.__getitem__, at)),
            base_names=list(map(self.base_names.__getitem__, at)),
            probable=list(map(self.probable.__getitem__, at)),
            files=list(map(self.files.__getitem__, at)),
            flat=(self.flat[0][rows], self.flat[1][rows]),
            cum=(self.cum[0][rows], self.cum[1][rows]),
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a DataFrame, by descending |delta flat|, cum, then name.

        Index: name. Columns: base_flat, new_flat, delta_flat, ratio_flat, the same for
        cum (int64 raw values; a ratio is scaled new / scaled base, NaN if base is 0),
        base_flat_scaled, new_flat_scaled, delta_flat_scaled, the same for cum
        (float64), status (categorical both, new, gone), base_name, file, plus z_flat,
        noise_flat, z_cum, noise_cum if there is a noise model.
        """
        import pandas as pd

        columns: dict[str, object] = {}
        for column in VALUE_COLUMNS:
            base, new = self.raw(column)
            scaled_base, scaled_new = self.scaled(column)
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.where(base == 0, np.nan, scaled_new / scaled_base)
            columns |= {
                f"base_{column}": base,
                f"new_{column}": new,
                f"delta_{column}": new - base,
                f"ratio_{column}": ratio,
                f"base_{column}_scaled": scaled_base,
                f"new_{column}_scaled": scaled_new,
                f"delta_{column}_scaled": scaled_new - scaled_base,
            }
            judged = self.judge(column)
            if judged is not None:
                columns |= {f"z_{column}": judged.z, f"noise_{column}": judged.noise}
        status = pd.Categorical.from_codes(self.status().tolist(), pd.Index(STATUSES))
        columns |= {"status": status, "base_name": self.base_names, "file": self.files}
        index = pd.Index(self.names, name=self.noun, dtype=object)
        frame = pd.DataFrame(columns, index=index)
        return frame.iloc[self.order("flat", "cum")]


# Runtime frames that stacks only pass through carry no information.
_PLUMBING = frozenset(
    f"runtime.{name}"
    for name in ("systemstack", "mcall", "mstart", "mstart0", "mstart1", "morestack")
)


def plumbing(table: Table) -> NDArray[np.bool_]:
    """Return which rows are runtime functions that stacks only pass through."""
    return np.array([name in _PLUMBING for name in table.names], np.bool_)


def chains(
    table: Table, rows: NDArray[np.int64], column: ValueColumn
) -> list[list[int]]:
    """Group rows with equal values on both sides, each led by the row to show.

    A function and its only caller have equal cum on both sides. The program's functions
    come before Go's own, plain functions before closures. With flat, each row is its
    own group. Groups are in the order of their first row in `rows`.
    """
    base, new = table.raw(column)
    groups: dict[tuple[int, int], list[int]] = {}
    for row in rows.tolist():
        groups.setdefault((int(base[row]), int(new[row])), []).append(row)
    if column == "flat":
        return [[row] for group in groups.values() for row in group]

    def rank(row: int) -> tuple[bool, bool, bool, int]:
        name = table.names[row]
        of_go = is_standard_library(package_of(name))
        return name.startswith("runtime."), of_go, ".func" in name, len(name)

    return [sorted(group, key=rank) for group in groups.values()]
