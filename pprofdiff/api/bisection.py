"""Find the commit that changed benchmarks: `bisect` returns a `Bisection`."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING

from pprofdiff.analysis.bisection import result
from pprofdiff.analysis.judge.student import NORMAL
from pprofdiff.analysis.policy import SAME_WITHIN
from pprofdiff.api.shown import Shown
from pprofdiff.errors import UsageError
from pprofdiff.report.rows import Table
from pprofdiff.report.sections.bisection import (
    below,
    commit_text,
    curve_table,
    headline,
    named_commits,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from pprofdiff.notebook import Card
    from pprofdiff.palette import Theme

_COMMIT = "commit", "author", "date", "subject"
_RATIO = "ratio", "low", "high"
_FAR = NORMAL.of_95


@dataclass(frozen=True, eq=False, repr=False)
class Bisection(Shown):
    """A search over the commits between two refs: what was measured, and the answer.

    A curve is the time or CPU per op of one benchmark at the measured commits, divided
    by that of the good ref.
    """

    data: result.Bisection

    def __repr__(self) -> str:
        return f"<Bisection {' → '.join(map(repr, self.data.ends))}: {self.answer}>"

    @property
    def answer(self) -> str:
        """Which commit it was, and what it changed, as the report says it."""
        return headline(self.data)

    @property
    def steps(self) -> pd.DataFrame:
        """The commits that changed a curve: one row per curve and candidate.

        ============== ============================================= ============
        name           the benchmark                                 string
        figure         what was measured of it, such as time/op      string
        ending         how its search ended: found, drift, none or   string
                       undecided
        commit         full hash; where nothing measured separates   string
                       several commits, each has a row
        author, date,  of the commit, as git has them                string
        subject
        probability    that the change is in these commits           float64
        ratio          what they multiplied the figure by            float64
        low, high      its 95% CI                                    float64
        ============== ============================================= ============
        """
        import pandas as pd

        rows = [
            (
                *(curve.name, curve.figure, curve.conclusion.ending),
                *self._commit(commit),
                step.chance,
                *(exp(step.size + far * step.sigma) for far in (0.0, -_FAR, _FAR)),
            )
            for curve in self.data.curves
            for step in curve.conclusion.steps
            for commit in step.commits
        ]
        columns = "name", "figure", "ending", *_COMMIT, "probability", *_RATIO
        return pd.DataFrame(rows, columns=list(columns))

    @property
    def measured(self) -> pd.DataFrame:
        """The measured commits: one row per curve and commit, in order of history.

        ============== ============================================= ============
        name, figure   as in `steps`                                 string
        number         its position among the commits; good is 0     int64
        commit, …      as in `steps`                                 string
        ratio          its figure ÷ good's                           float64
        low, high      its 95% CI                                    float64
        rounds         how often it was measured                     int64
        ============== ============================================= ============
        """
        import pandas as pd

        rows = [
            (
                *(curve.name, curve.figure, point.commit),
                *self._commit(point.commit),
                *(point.ratio, point.low, point.high, point.rounds),
            )
            for curve in self.data.curves
            for point in curve.points
        ]
        columns = "name", "figure", "number", *_COMMIT, *_RATIO, "rounds"
        return pd.DataFrame(rows, columns=list(columns))

    def plot(
        self, ax: Axes | None = None, *, name: str = "", theme: Theme = "light"
    ) -> Axes:
        """Plot a benchmark's curve with 95% intervals; "" is the first one."""
        from pprofdiff.plots.commitplot import commits

        for curve in self.data.curves:
            if name in ("", curve.name):
                return commits(self.data, curve, ax, theme=theme)
        names = ", ".join(curve.name for curve in self.data.curves) or "none"
        raise UsageError(f"no curve {name!r}: there is {names}")

    def _commit(self, number: int) -> tuple[str, ...]:
        one = self.data.commits[number]
        return one.id, one.author, one.date, one.subject

    def _card(self) -> Card:
        from pprofdiff.notebook import Card

        found = self.data
        none = Table("none", (), ())
        return Card(
            labels=found.ends,
            kind="bisect",
            lead=headline(found),
            table=curve_table(found, found.curves[0]) if found.curves else none,
            below=below(found),
            findings=tuple(
                (0, commit_text(found, one)) for one in named_commits(found)
            ),
        )


def bisect(  # noqa: PLR0913 - the options of the command, by keyword
    good: str,
    bad: str,
    *go_words: str,
    faster: bool = False,
    first_parent: bool = False,
    rounds: int = 20,
    seconds: float | None = None,
    same_within: float = SAME_WITHIN,
    state: str = "",
) -> Bisection:
    """Find the commit between two refs that made benchmarks slower.

    Commits of the repository that contains the working directory are built and measured
    in turns with `good`, as ``pprofdiff bisect`` does, which takes minutes. `go_words`
    are packages (default: ``.``), ``-bench`` and other flags of ``go test``. With
    `faster`, look for what made them faster; with `first_parent`, a merge is one
    commit. One commit is measured `rounds` times at most, and the search may take
    `seconds`, None for any time. `same_within` is the smallest change to look for, as a
    fraction. With the folder `state`, builds and runs are kept: the same call, or the
    same command with ``--state``, continues there. An interrupt returns what is known
    by then.

    Raises UsageError without repository, ref, Go, benchmark or commits between the
    refs, or for the folder of another search; MeasureError if one of the refs does not
    compile, or its benchmarks fail.

    >>> found = bisect("v1.4.0", "HEAD", "-bench=Price", "./store")  # doctest: +SKIP
    >>> found.plot()  # doctest: +SKIP
    """
    from pprofdiff.measure.bisecting import Question, Watcher, bisected
    from pprofdiff.measure.figures import BenchmarkFigures
    from pprofdiff.measure.goflags import go_test

    if not 0 < same_within < 1:
        raise UsageError("same_within= must be a fraction of good, such as 0.02")
    if rounds < 1:
        raise UsageError("rounds= must be 1 or more")
    question = Question(
        ends=(good, bad),
        asked=go_test(list(go_words)),
        words="faster" if faster else "slower",
        first_parent=first_parent,
        rounds=rounds,
        seconds=seconds,
        profile_s=1.0,
        state=state,
        go_words=go_words,
    )
    watcher = Watcher(warn=lambda text: warnings.warn(text, stacklevel=2))
    figures = BenchmarkFigures(same_within, faster=faster)
    with bisected(question, figures, watcher) as it:
        return Bisection(it.found)
