"""Two folders of evidence compared, as the command line does it: `Comparison`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pprofdiff.analysis import comparison as analysis
from pprofdiff.analysis.profiles.caveats import Caveat
from pprofdiff.analysis.settings import DEFAULTS, Settings
from pprofdiff.api.benchmarks import BenchmarksDiff
from pprofdiff.api.gclogs import GCLogDiff
from pprofdiff.api.profiles import Diff, diff_of
from pprofdiff.api.reported import Reported
from pprofdiff.api.traces import TraceDiff
from pprofdiff.errors import UsageError
from pprofdiff.inputs.sides import load_sides
from pprofdiff.kinds import KINDS, KindId
from pprofdiff.model.side import Side

__all__ = ["Comparison", "Paths", "compare_paths", "words_of"]

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Reported):
    """Everything that two sides' evidence tells, kind by kind.

    `findings` are drawn from all of it: the cause of a CPU profile's change is often in
    the GC log beside it. `notes` say what is of no kind that is compared; `unread`
    names the files that are damaged or cannot be read, and `check` is no pass then.
    """

    data: analysis.Comparison
    notes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    def _notes(self) -> list[Caveat]:
        return [Caveat("input", note) for note in self.notes]

    def _unread(self) -> tuple[str, ...]:
        return self.unread

    def __repr__(self) -> str:
        """Return one line: the two sides, and what is compared."""
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
        """What is compared, as `pprofdiff.analysis.comparison` has it."""
        return self.data

    @cached_property
    def profiles(self) -> dict[str, Diff]:
        """The profiles' diffs by name, such as cpu or ``allocs/alloc_objects``."""
        diffs: dict[str, Diff] = {}
        for one in self.data.profiles:
            name = one.name
            key = f"{name}/{one.sample_type.type}" if name in diffs else name
            diffs[key] = diff_of(one)
        return diffs

    def __getitem__(self, name: str) -> Diff:
        """Return the diff of one kind of profile; UsageError where there is none."""
        if name not in self.profiles:
            there = ", ".join(self.profiles) or "none"
            raise UsageError(f"no {name!r} on both sides; the profiles are: {there}")
        return self.profiles[name]

    @cached_property
    def gc(self) -> GCLogDiff | None:
        """The GC logs' diff, None where a side has none."""
        result = self.data.gc
        return None if result is None else GCLogDiff(result, self._sides("gctrace"))

    @cached_property
    def trace(self) -> TraceDiff | None:
        """The execution traces' diff, None where a side has none."""
        result = self.data.trace
        return None if result is None else TraceDiff(result, self._sides("trace"))

    @cached_property
    def benchmarks(self) -> BenchmarksDiff | None:
        """The benchmarks' diff, None where a side has none.

        What `pprofdiff measure` ran is judged in turns, as in the report.
        """
        judged = self.report().comparison if self.data.measured else self.data
        result = judged.benchmarks
        if result is None:
            return None
        return BenchmarksDiff(result, self._sides("benchmark"))

    def _sides(self, kind: KindId) -> tuple[Side, Side]:
        """Return both sides with the captures of one kind alone."""
        base, new = (
            Side(side.label, side.of(kind)) for side in (self.data.base, self.data.new)
        )
        return base, new


def compare_paths(base: Paths, new: Paths, settings: Settings = DEFAULTS) -> Comparison:
    """Read what lies at both sides' paths and compare it kind by kind.

    Raises FetchError or FormatError for what cannot be read, UsageError where nothing
    pairs.
    """
    loaded = load_sides(words_of(base), words_of(new))
    if loaded.base is None:
        raise UsageError("base: there is nothing on this side")
    data = analysis.compare_sides(loaded.base, loaded.new, settings)
    return Comparison(data, loaded.notes, loaded.unread)


def words_of(paths: Paths) -> tuple[str, ...]:
    """Return what was given for a side as the words that a command has for it."""
    if isinstance(paths, str | os.PathLike):
        return (os.fspath(paths),)
    return tuple(os.fspath(path) for path in paths)
