"""Compare two folders of evidence as the command line does: `Comparison`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pprofdiff.analysis import comparison as analysis
from pprofdiff.analysis.settings import DEFAULTS, Settings
from pprofdiff.api.benchmarks import BenchmarksDiff, LoadsDiff
from pprofdiff.api.gclogs import GCLogDiff
from pprofdiff.api.profiles import Diff, diff_of
from pprofdiff.api.reported import Reported
from pprofdiff.api.traces import TraceDiff
from pprofdiff.errors import UsageError
from pprofdiff.inputs.sides import load_sides
from pprofdiff.kinds import KINDS, KindId
from pprofdiff.model.side import Side

if TYPE_CHECKING:
    import pandas as pd


Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Reported):
    """The comparison of two sides' evidence, kind by kind.

    `findings` use all of it: the cause of a change in a CPU profile is often found in
    the GC log. `notes` list inputs of kinds that are not compared; `unread` lists files
    that are damaged or cannot be read, in which case `check` does not pass. `named` is
    git, repo and source as given to `compare`.
    """

    data: analysis.Comparison
    notes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    named: tuple[str, str, str] = ("", "", "")

    @property
    def changed(self) -> pd.DataFrame:
        """The changed lines behind `findings`: one row per finding and range of lines.

        ============== ============================================= ============
        finding        the finding's id                              string
        function       the function they are in                      string
        file           path from the root of the repository or       string
                       folder
        start, end     first and last line                           int64
        side           whose file: new, or base if they are gone     categorical
        base, new      their cum, raw; missing if not known by line  Int64
        base_scaled,   the same per second, per op …                 Float64
        new_scaled
        commit         full hash of the newest one that changed      string
                       them, "" without `git`
        subject        first line of its message                     string
        ============== ============================================= ============

        Empty unless `compare` got `git` or `source`.
        """
        import pandas as pd

        rows: list[tuple[object, ...]] = []
        report = self.report()
        for finding in report.findings.found:
            source = finding.source
            if source is None:
                continue
            for one in (*source.own, *source.only):
                side = "base" if one.gone else "new"
                costs: tuple[object, ...] = (None,) * 4
                if one.base or one.new:
                    by = report.profiles_of(finding)[source.diff].normalization
                    costs = one.base, one.new, *by.scaled(one.base, one.new)
                place = one.function, one.path, one.start, one.end, side
                commit = one.commits[0] if one.commits else ("", "")
                rows.append((finding.id, *place, *costs, *commit))
        raw, scaled = ("base", "new"), ("base_scaled", "new_scaled")
        columns = [
            *("finding", "function", "file", "start", "end", "side"),
            *(*raw, *scaled, "commit", "subject"),
        ]
        frame = pd.DataFrame(rows, columns=columns)
        frame["side"] = pd.Categorical(frame["side"], raw)
        types = dict.fromkeys(raw, "Int64") | dict.fromkeys(scaled, "Float64")
        return frame.astype(types)

    def __repr__(self) -> str:
        others = [
            kind.plural
            for kind in KINDS.values()
            if kind.id in self.data.results and kind.id != "profile"
        ]
        kinds = [*self.profiles, *others]
        base, new = self.data.base.label, self.data.new.label
        return f"<Comparison {base!r} → {new!r}: {', '.join(kinds)}>"

    @property
    def comparison(self) -> analysis.Comparison:
        """The underlying `pprofdiff.analysis.comparison` object."""
        return self.data

    @cached_property
    def profiles(self) -> dict[str, Diff]:
        """Diffs of profiles by name, such as cpu or ``allocs/alloc_objects``."""
        diffs: dict[str, Diff] = {}
        for one in self.data.profiles:
            name = one.name
            key = f"{name}/{one.sample_type.type}" if name in diffs else name
            diffs[key] = diff_of(one)
        return diffs

    def __getitem__(self, name: str) -> Diff:
        """Return the diff of one kind of profile; raises UsageError if missing."""
        if name not in self.profiles:
            there = ", ".join(self.profiles) or "none"
            raise UsageError(f"no {name!r} profiles on both sides; there are: {there}")
        return self.profiles[name]

    @cached_property
    def gc(self) -> GCLogDiff | None:
        """The diff of GC logs, None if a side has none."""
        result = self.data.gc
        return None if result is None else GCLogDiff(result, self._sides("gctrace"))

    @cached_property
    def trace(self) -> TraceDiff | None:
        """The diff of execution traces, None if a side has none."""
        result = self.data.trace
        return None if result is None else TraceDiff(result, self._sides("trace"))

    @cached_property
    def benchmarks(self) -> BenchmarksDiff | None:
        """The diff of benchmarks, None if a side has none.

        Runs of `pprofdiff measure` are judged in turns, as in the report.
        """
        judged = self.report().comparison if self.data.measured else self.data
        result = judged.benchmarks
        if result is None:
            return None
        return BenchmarksDiff(result, self._sides("benchmark"))

    @cached_property
    def loads(self) -> LoadsDiff | None:
        """The diff of load generators' summaries, None if a side has none."""
        result = self.data.loads
        return None if result is None else LoadsDiff(result, self._sides("load"))

    def _sides(self, kind: KindId) -> tuple[Side, Side]:
        """Return both sides with only the captures of one kind."""
        base, new = (
            Side(side.label, side.of(kind)) for side in (self.data.base, self.data.new)
        )
        return base, new


def compare_paths(
    base: Paths,
    new: Paths,
    settings: Settings = DEFAULTS,
    named: tuple[str, str, str] = ("", "", ""),
) -> Comparison:
    """Read both sides' paths and compare them kind by kind; `named` are the sources.

    Raises FetchError, FormatError, or UsageError if nothing pairs.
    """
    loaded = load_sides(words_of(base), words_of(new))
    if loaded.base is None:
        raise UsageError("base: no inputs")
    data = analysis.compare_sides(loaded.base, loaded.new, settings)
    return Comparison(data, loaded.notes, loaded.unread, named)


def words_of(paths: Paths) -> tuple[str, ...]:
    """Return a side's paths as command-line arguments."""
    if isinstance(paths, str | os.PathLike):
        return (os.fspath(paths),)
    return tuple(os.fspath(path) for path in paths)
