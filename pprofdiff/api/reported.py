"""What all comparisons can do: explain, export, and display in a notebook."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from pprofdiff.analysis.benchmarks.turns import measured_in_turns
from pprofdiff.analysis.causes.finding import evidence_frame, findings_frame
from pprofdiff.analysis.caveat import Caveat
from pprofdiff.analysis.comparison import Comparison
from pprofdiff.api.shown import Shown, plotted
from pprofdiff.kinds import KindId
from pprofdiff.model.side import Side
from pprofdiff.report.files import replace_file, writer_for
from pprofdiff.report.model import ReportModel, Scope, judged, report_of
from pprofdiff.report.text.lines import render
from pprofdiff.report.text.report import report_parts

if TYPE_CHECKING:
    import pandas as pd

    from pprofdiff.analysis.causes.finding import Finding
    from pprofdiff.analysis.gate.model import Verdict
    from pprofdiff.analysis.gate.rules import Gate
    from pprofdiff.model.source import Sources
    from pprofdiff.notebook import Card

Text = TypeVar("Text", str, bytes)
Result = TypeVar("Result")
Path = str | os.PathLike[str]


class Reported(Shown):
    """A comparison of any kind, ready for the report's writers."""

    notes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    named: tuple[str, str, str] = "", "", ""

    @property
    @abstractmethod
    def comparison(self) -> Comparison:
        """The underlying `pprofdiff.analysis.comparison` object."""

    def report(self, gate: Gate | None = None) -> ReportModel:
        """Return the report for the writers, judged by the gate if given."""
        return self._report if gate is None else judged(self._report, gate)

    @cached_property
    def _report(self) -> ReportModel:
        """The report without a gate, so that findings are computed once."""
        return report_of(
            self.comparison,
            warnings=[Caveat("input", note) for note in self.notes],
            unread=self.unread,
            sources=sources_named(self.named),
        )

    def check(self, *rules: str, strict: bool = False) -> Verdict:
        r"""Return the verdict on rules, in the syntax of ``--fail-on``.

        The verdict is true unless a rule tripped; `tripped` lists those that did, with
        their figures. `strict` is like ``--strict``. Raises UsageError for an invalid
        rule.

        >>> verdict = d.check("total:+5%", r"cum:main\..*:+5%")  # doctest: +SKIP
        >>> assert verdict, [rule.text for rule in verdict.tripped]  # doctest: +SKIP
        """
        from pprofdiff.analysis.gate.rules import Gate

        return self.report(Gate.of(rules, strict=strict)).verdict

    @property
    def findings(self) -> pd.DataFrame:
        """Why it changed: one row per finding, the one that explains most first.

        ============== ============================================= ============
        id             stable name of the rule                       string
        severity       info, minor or major                          categorical
        direction      worse, better or neutral                      categorical
        title          one sentence                                  string
        text           the numbers behind it, may be ""              string
        advice         what to do, may be ""                         string
        explains       scaled CPU change that it explains, NaN if    float64
                       unknown
        unit           benchmark, or label key and value such as     string
                       ``endpoint /search``; "" for the program
        ============== ============================================= ============
        """
        return findings_frame(self.report().findings)

    @property
    def evidence(self) -> pd.DataFrame:
        """The evidence for `findings`: one row per fact.

        ============== ============================================= ============
        finding        the finding's id                              string
        what           what was measured                             string
        source         the input, and its field                      string
        base, new      in `unit`; NaN if unknown on a side           float64
        unit           their unit                                    string
        ============== ============================================= ============
        """
        return evidence_frame(self.report().findings)

    @property
    def units(self) -> pd.DataFrame:
        """Cost per op: one row per benchmark, else per value of a label.

        ============== ============================================= ============
        label          the label's key; missing for benchmarks       string
        unit           name of the benchmark, or the label's value   string
        figure         time or cpu, per op                           categorical
        base, new      seconds                                       float64
        ratio          new ÷ base                                    float64
        low, high      its bounds, adjusted for several benchmarks   float64
        verdict        slower, faster, same or unknown               categorical
        mark           more, less, noise or unknown                  categorical
        ============== ============================================= ============

        Empty for a single benchmark, and if no label of CPU samples separates units of
        work or the work is unknown. CPU by label is divided by all operations.
        """
        from pprofdiff.analysis.outcome.model import units_frame

        return units_frame(self.report().outcome)

    @property
    def runs(self) -> pd.DataFrame:
        """What each run measured: one row per side, run and figure.

        ============== ============================================= ===================
        side           base or new                                   categorical
        run            number in the name of its folder or file,     int64
                       else its position in the inputs, from 1
        start          start of its CPU profile or trace; NaT if     datetime64[ns, UTC]
                       not recorded
        figure         stable id, such as cpu.per_operation or       string
                       benchmark.Encode-8.sec/op; they are listed
                       in `pprofdiff.analysis.runs.figures`
        unit           the unit of `value`                           string
        value          what was measured                             float64
        ============== ============================================= ===================

        A figure has no row for runs without evidence of it. Sums of profiles (``cpu``,
        ``cpu.samples``, ``cpu.group.gc``) add up over a side's runs to those of the
        merged profile.
        """
        from pprofdiff.analysis.runs.figures import run_figures, runs_frame

        return runs_frame(run_figures(self.comparison))

    @property
    def _causes(self) -> Sequence[Finding]:
        """The causes that the report numbers, which flame graphs mark."""
        from pprofdiff.report.sections.findings import why

        return why(self.report()).causes

    plot_runs = plotted("runs", "time or CPU per op or another figure, one dot per run")

    def to_json(self, path: Path | None = None) -> str | None:
        """Return the report as JSON (schema ``pprofdiff/1``), or write it to `path`."""
        return self._rendered(".json", path)

    def to_markdown(self, path: Path | None = None) -> str | None:
        """Return the pull request comment, or write it to `path`."""
        return self._rendered(".md", path)

    def to_html(self, path: Path | None = None) -> str | None:
        """Return the report as one self-contained page, or write it to `path`."""
        return self._rendered(".html", path)

    def to_text(self, path: Path | None = None, *, full: bool = False) -> str | None:
        """Return the report that the command line prints, or write it to `path`."""
        parts = report_parts(self.report(), Scope(full=full))
        return delivered(render(parts), path)

    def _rendered(self, ending: str, path: Path | None) -> str | None:
        return delivered(writer_for(ending)(self.report()).decode(), path)

    def _card(self) -> Card:
        from pprofdiff.notebook.cards import comparison_card

        return comparison_card(self.report())


@dataclass(frozen=True, eq=False, repr=False)
class KindDiff(Reported, Generic[Result]):
    """The comparison of two sides of one kind: `data` is its analysis."""

    kind: ClassVar[KindId]

    data: Result
    sides: tuple[Side, Side]

    @cached_property
    def comparison(self) -> Comparison:
        """The comparison of this kind alone."""
        turns = measured_in_turns(*self.sides)
        return Comparison(*self.sides, {self.kind: self._results}, turns=turns)

    @property
    def _results(self) -> object:
        """The results of this kind in a `Comparison`."""
        return self.data


def sources_named(named: tuple[str, str, str]) -> Sources | None:
    """Return the sources that git, repo and source name, None if all are empty."""
    if not any(named):
        return None
    from pprofdiff.inputs.sources.lookup import sources_of

    return sources_of(*named)


def delivered(data: Text, path: Path | None) -> Text | None:
    """Return data, or write it to `path` and return None, as pandas does."""
    if path is None:
        return data
    raw = data if isinstance(data, bytes) else data.encode()
    replace_file(os.fspath(path), raw)
    return None
