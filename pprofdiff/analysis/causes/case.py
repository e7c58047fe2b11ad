"""What rules read: each comparison under its name, None where there is none."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from pprofdiff.analysis.causes.changed_code import changed_code
from pprofdiff.analysis.causes.cpu import CPUComparison, load_of
from pprofdiff.analysis.causes.places import Place
from pprofdiff.analysis.comparison import Comparison

if TYPE_CHECKING:
    from pprofdiff.analysis.causes.by_text import Texts
    from pprofdiff.analysis.causes.carriers import Code
    from pprofdiff.analysis.gclogs.compare import GCDiff
    from pprofdiff.analysis.traces.compare import TraceDiff
    from pprofdiff.analysis.traces.movers import Mover
    from pprofdiff.analysis.traces.profiles import StateName


class Case(Struct, frozen=True, eq=False, dict=True):
    """Both sides' evidence, as rules read it."""

    comparison: Comparison
    code: Code | None = None

    @cached_property
    def cpu(self) -> CPUComparison | None:
        """Profiles of running code with samples on both sides: of CPU time if any."""
        for diff in self.comparison.profiles:
            if not diff.of_running_code or diff.model is None:
                continue
            if not diff.model.sound or min(diff.totals) <= 0:
                continue
            if diff.attributions is not None:
                known = diff.normalization.mode in ("per_work", "about")
                load = None if known else load_of(diff)
                model = diff.model.counting.cautious
                return CPUComparison(diff, model, diff.attributions, load)
        return None

    @cached_property
    def texts(self) -> Texts | None:
        """Whose text changed of the functions on the CPU, None without sources."""
        if self.code is None or self.cpu is None:
            return None
        return self.code.of(self.cpu.diff).texts

    @property
    def gc(self) -> GCDiff | None:
        """The GC logs."""
        return self.comparison.gc

    @property
    def trace(self) -> TraceDiff | None:
        """The execution traces."""
        return self.comparison.trace

    @cached_property
    def places(self) -> list[Place]:
        """Where the program's code changed; empty without CPU profiles."""
        return [] if self.cpu is None else changed_code(self.cpu)

    @cached_property
    def waits(self) -> tuple[Mover, ...]:
        """Where goroutines block, from traces; empty without traces."""
        return self._movers("blocked")

    @cached_property
    def system_calls(self) -> tuple[Mover, ...]:
        """Where goroutines are in system calls, from traces; empty without traces."""
        return self._movers("syscall")

    def _movers(self, state: StateName) -> tuple[Mover, ...]:
        if self.trace is None:
            return ()
        # Imported only where there are traces.
        from pprofdiff.analysis.traces.movers import movers

        return movers(self.trace, state)

    @property
    def labels(self) -> tuple[str, str]:
        """The labels of base and new."""
        return self.comparison.base.label, self.comparison.new.label
