"""What the rules look at: each comparison under its name; what is missing is None."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.analysis.findings.cpu import CPUComparison
from pprofdiff.analysis.findings.load import Load, load_of
from pprofdiff.analysis.profiles.diff import ProfileDiff

if TYPE_CHECKING:
    from pprofdiff.analysis.gclogs.compare import GCDiff
    from pprofdiff.analysis.traces.compare import TraceDiff

__all__ = ["Case"]


@dataclass(frozen=True, eq=False)
class Case:
    """Both sides' evidence as rules see it."""

    comparison: Comparison

    def of_type(self, sample_type: str) -> ProfileDiff | None:
        """Return the comparison of a sample type, the first of several."""
        for diff in self.comparison.profiles:
            if diff.sample_type.type == sample_type:
                return diff
        return None

    @cached_property
    def cpu(self) -> CPUComparison | None:
        """CPU profiles with samples on both sides."""
        for diff in self.comparison.profiles:
            if not diff.is_cpu or diff.model is None:
                continue
            if not diff.model.sound or min(diff.totals) <= 0:
                continue
            if diff.attributions is not None:
                return CPUComparison(
                    diff, diff.model, diff.attributions, self._load(diff)
                )
        return None

    def _load(self, cpu: ProfileDiff) -> Load | None:
        """Return the load of new over base, where nobody said it and it shows.

        Allocation profiles have more samples than CPU profiles, but count since the
        process started: they tell the load where GC logs tell how long ago that was.
        """
        if cpu.normalization.mode == "per_work":
            return None
        allocs, gc = self.of_type("alloc_space"), self.gc
        if allocs is not None and gc is not None:
            since_start = load_of(allocs)
            if since_start is not None and allocs.normalization.mode == "absolute":
                base, new = (
                    float(side.run.cycles.start_ms[-1]) for side in (gc.base, gc.new)
                )
                if base > 0 and new > 0:
                    return since_start.times(base / new)
        return load_of(cpu)

    @property
    def gc(self) -> GCDiff | None:
        """The GC logs."""
        return self.comparison.gc

    @property
    def trace(self) -> TraceDiff | None:
        """The execution traces."""
        return self.comparison.trace

    @property
    def labels(self) -> tuple[str, str]:
        """The words for base and new."""
        return self.comparison.base.label, self.comparison.new.label
