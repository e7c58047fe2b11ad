"""Several builds next to each other: `Builds`, which `load_many` returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.profiles.kinds import counts_of, kind_name
from pprofdiff.analysis.profiles.scaling import scale_in_mode
from pprofdiff.analysis.profiles.single import ProfileSums, profile_sums
from pprofdiff.analysis.settings import Settings
from pprofdiff.api.profiles import Diff, Profile, subtracted
from pprofdiff.api.shown import Shown
from pprofdiff.errors import IncompatibleProfilesError, UsageError
from pprofdiff.goruntime.rules import rules
from pprofdiff.model.profiles.profile import ValueType
from pprofdiff.report.rows import Cell, Column, Row, Table, name_column

if TYPE_CHECKING:
    import pandas as pd

    from pprofdiff.notebook import Card


@dataclass(frozen=True, eq=False, repr=False)
class Builds(Shown):
    """Profiles of one kind from several builds, in order, for one sample type.

    Raw values are int64 in `unit`. Scaled values are per op if `work` was given.
    Otherwise CPU and allocations are percent of each build's total; the rest is per
    second if every profile has a duration, else raw. `mode` says which.
    """

    names: tuple[str, ...]
    profiles: tuple[Profile, ...]
    sample_type: ValueType
    mode: str
    factors: tuple[float, ...]

    @classmethod
    def of(cls, profiles: Sequence[tuple[str, Profile]]) -> Builds:
        """Return builds from (name, profile) pairs, in the last one's default type.

        Raises UsageError if there is no build or a duplicate name,
        IncompatibleProfilesError if a profile lacks that sample type.
        """
        names = [name for name, _ in profiles]
        if not names:
            raise UsageError("load_many: there is no build")
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise UsageError(f"load_many: two builds are called {twice!r}")
        every = tuple(profile for _, profile in profiles)
        kind = every[-1].data.sample_types[every[-1].data.sample_index()]
        return cls(tuple(names), every, kind, "absolute", (1.0,) * len(every)).by()

    def by(
        self,
        sample_type: str | int | None = None,
        *,
        work: Sequence[float] | None = None,
    ) -> Builds:
        """Return the same builds in another sample type, or per op of `work`."""
        kind = self.sample_type
        if sample_type is not None:
            last = self.profiles[-1].data
            kind = last.sample_types[last.sample_index(sample_type)]
        for name, profile in zip(self.names, self.profiles, strict=True):
            if kind not in profile.data.sample_types:
                there = ", ".join(
                    f"{t.type}/{t.unit}" for t in profile.data.sample_types
                )
                raise IncompatibleProfilesError(
                    f"{name} has no {kind.type}/{kind.unit}; it has: {there}"
                )
        mode, factors = _factors(self.profiles, kind, work)
        return Builds(self.names, self.profiles, kind, mode, factors)

    def __repr__(self) -> str:
        kind = self.sample_type
        ends = f"{self.names[0]!r} … {self.names[-1]!r}"
        return f"<Builds {kind.type}/{kind.unit}: {len(self.names)} builds, {ends}>"

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: str) -> Profile:
        """Return one build's profile."""
        return self.profiles[self.names.index(name)]

    @property
    def kind(self) -> str:
        """What Go calls these profiles, such as cpu or allocs."""
        return kind_name(self.profiles[-1].data)

    @property
    def unit(self) -> str:
        """The unit of raw values."""
        return self.sample_type.unit

    def diff(self, base: str, new: str) -> Diff:
        """Return what changed from one build to another."""
        old, current = (replace(self[name], label=name) for name in (base, new))
        return subtracted([old], [current], Settings(self.sample_type.type))

    @cached_property
    def costs(self) -> tuple[ProfileSums, ...]:
        """Each build's flat and cum per function, and sums per category."""
        kind = self.sample_type.type
        return tuple(profile_sums(profile.data, kind) for profile in self.profiles)

    @property
    def totals(self) -> pd.DataFrame:
        """One row per build (index build): total, int64, and scaled, float64."""
        import pandas as pd

        total = np.array([cost.total for cost in self.costs], np.int64)
        scaled = total * np.array(self.factors)
        return pd.DataFrame({"total": total, "scaled": scaled}, self._index())

    @property
    def categories(self) -> pd.DataFrame:
        """What the Go runtime did: one row per build, one column per category, int64.

        Columns are category ids, in the order of the rules, without those that are 0 in
        every build. A row adds up to the build's raw total. No columns unless samples
        are CPU time.
        """
        import pandas as pd

        ids = list(rules().categories)
        frame = pd.DataFrame(self._sums(), self._index(), ids)
        return frame.loc[:, (frame != 0).any()].rename_axis(columns="category")

    @property
    def groups(self) -> pd.DataFrame:
        """Like `categories`, per group of runtime costs: gc, alloc, sched and so on."""
        import pandas as pd

        ids = [group.id for group in rules().groups]
        sums = np.array([cost.of_groups() for cost in self.costs])
        frame = pd.DataFrame(sums, self._index(), ids)
        return frame.loc[:, (frame != 0).any()].rename_axis(columns="group")

    @property
    def groups_scaled(self) -> pd.DataFrame:
        """Like `groups`, scaled (see `mode`), float64."""
        return self.groups.mul(list(self.factors), axis=0)

    @property
    def functions(self) -> pd.DataFrame:
        """Flat per function: one row per function, one column per build, raw int64.

        Functions are matched by name; 0 if a build lacks one. Rows are sorted by the
        spread of scaled values, largest first, then by name.
        """
        import pandas as pd

        columns = [
            pd.Series(cost.flat, pd.Index(cost.names, dtype=object), "int64")
            for cost in self.costs
        ]
        frame = pd.concat(columns, axis=1, keys=self.names).fillna(0).astype("int64")
        frame = frame[(frame != 0).any(axis=1)].sort_index()
        frame = frame.rename_axis(index="function", columns="build")
        scaled = frame.to_numpy() * np.array(self.factors)
        spread = scaled.max(axis=1) - scaled.min(axis=1)
        return frame.iloc[np.argsort(-spread, kind="stable")]

    def _index(self) -> pd.Index[str]:
        import pandas as pd

        return pd.Index(list(self.names), name="build", dtype=object)

    def _sums(self) -> NDArray[np.int64]:
        """Return sums by build and category; zeros if there are no categories."""
        count = len(rules().categories)
        rows = [
            np.zeros(count, np.int64) if cost.categories is None else cost.categories
            for cost in self.costs
        ]
        return np.array(rows, np.int64).reshape(len(rows), count)

    def _card(self) -> Card:
        """Return the first and last builds by group of runtime costs."""
        from pprofdiff.notebook import ROWS, Card

        totals = self.totals["scaled"].tolist()
        scale = scale_in_mode(totals, self.unit, self.mode, cpu=self.kind == "cpu")
        sums = np.array([cost.of_groups() for cost in self.costs])
        used = np.flatnonzero(sums.any(axis=0)).tolist()
        names, chosen = self.names, list(range(len(self.names)))
        if len(chosen) > ROWS:
            chosen = [*chosen[: ROWS // 2], *chosen[-ROWS // 2 :]]
        rows = []
        for i in chosen:
            parts = [value * self.factors[i] for value in sums[i, used].tolist()]
            figures = (Cell(scale.number(one), one) for one in (totals[i], *parts))
            rows.append(Row(names[i], "file", (Cell(names[i]), *figures)))
        columns = (
            name_column("build"),
            Column(f"total, {scale.unit}", "new"),
            *(Column(rules().groups[at].label, "new") for at in used),
        )
        left = len(names) - len(chosen)
        return Card(
            labels=(names[0], names[-1]),
            kind=f"{self.kind}, {len(names)} builds",
            lead="",
            table=Table("builds", columns, tuple(rows), code=True),
            below=f"{left} more between them" if left else "",
        )


def _factors(
    profiles: Sequence[Profile], kind: ValueType, work: Sequence[float] | None
) -> tuple[str, tuple[float, ...]]:
    """Return the mode, and the factor for each build's raw values."""
    if work is not None:
        if len(work) != len(profiles) or not all(done > 0 for done in work):
            raise UsageError(
                f"work= needs the operations of each build, {len(profiles)} numbers"
            )
        return "per_work", tuple(1 / done for done in work)
    counts = {counts_of(profile.data, kind) for profile in profiles}
    totals = [
        int(profile.data.values[:, profile.data.sample_types.index(kind)].sum())
        for profile in profiles
    ]
    if counts == {"cost"} and min(totals) > 0:
        return "composition", tuple(100 / total for total in totals)
    seconds = [profile.data.duration_ns or 0 for profile in profiles]
    if all(seconds) and "moment" not in counts:
        return "per_second", tuple(1e9 / ns for ns in seconds)
    return "absolute", (1.0,) * len(profiles)
