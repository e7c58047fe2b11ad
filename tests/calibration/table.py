"""The table of what was measured, in Markdown; what misses its bound is **bold**."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tests.calibration.judging import Key
from tests.calibration.plain import TESTS
from tests.calibration.rates import Rates
from tests.calibration.spread import CLASSES, Grown, Spread


class Bound(NamedTuple):
    """What a rate may be, from least to most, as parts of 1."""

    least: float
    most: float

    def shown(self, rate: float | None) -> str:
        """Return a rate in per cent, bold where it is out of bounds."""
        if rate is None:
            return "–"
        figure = f"{100 * rate:.0f}"
        return figure if self.least <= rate <= self.most else f"**{figure}**"


FALSE = Bound(0, 0.05)
NONE = Bound(0, 0)
WRONG = Bound(0, 0.01)
COVERED = Bound(0.92, 0.98)
ANY = Bound(-9, 9)
FOUND = Bound(0.8, 1)
# From this size on a change is to be found, with so many runs a side.
_TO_FIND, _RUNS = {"quiet": 5, "busy": 10}, 5

_ALARMS = """\
Bounds: alarms ≤ 5, findings above info 0, coverage of 95 % intervals 92-98; what misses
is bold. Alarms of flat, cum, groups and GC figures are splits in which any of them is
marked, `rows` the mean numbers of marked rows of flat and cum, `coverage` that of the outcome's headline."""
_OF_UNCHANGED = """\
alarms: 1 outside of the interval; ±: median of half the 95 % interval; error: mean of
log (estimate / truth)."""
_POWER = """\
Bounds: ≥ 80 with 5 runs or more, from +5 % (quiet) or +10 % (busy); wrong (faster) ≤ 1;
`true` is what the function's share shows in all profiles, CPU/op by how much CPU an
operation grew over all runs (± standard error), `false` the part of marked flat rows
that are others (≤ 5)."""
_OF_PLANTED = """\
found: the interval is above 1; wrong: below 1; the rest as above. The time of an
operation of the server has no known truth: its clients and handlers run side by side."""


def _due(key: Key) -> Bound:
    """Return how often a change is to be found."""
    least = _TO_FIND.get(key.condition)
    due = least is not None and key.size >= least and key.runs >= _RUNS
    return FOUND if due else ANY


def markdown(
    rates: Mapping[Key, Rates],
    spreads: Mapping[tuple[str, str], Spread],
    truths: Mapping[Key, tuple[float, Grown]],
) -> str:
    """Return the whole table; `truths` are true sizes, and what operations show."""
    same = {key: rate for key, rate in rates.items() if not key.size}
    planted = {key: rate for key, rate in rates.items() if key.size}
    parts = [
        "## Runs of one build",
        _spreads(spreads),
        "## Unchanged builds: false alarms, % of splits",
        _ALARMS,
        _unchanged(same),
        "## Unchanged builds: each figure of the outcome",
        _OF_UNCHANGED,
        _figures(same),
        "## One function dearer: how often it is found, % of splits",
        _POWER,
        _planted(planted, truths),
        "## One function dearer: each figure of the outcome",
        _OF_PLANTED,
        _figures(planted),
    ]
    return "\n\n".join(parts) + "\n"


def _spreads(spreads: Mapping[tuple[str, str], Spread]) -> str:
    classes = [f"{100 * low:.0f}-{100 * high:.0f} %" for low, high in CLASSES]
    head = ["workload", "machine", "runs", "load average", "samples a run"]
    head += ["CPU/op CV (Poisson)", "time/op CV", "CPU/s CV", "lag-1", "asyncPreempt %"]
    head += [f"φ {column} {c}" for column in ("flat", "cum") for c in classes]
    lines = [
        (
            *key,
            s.runs,
            f"{s.load[0]:.1f}-{s.load[1]:.1f}",
            f"{s.samples:.0f}",
            f"{100 * s.cpu:.1f} ({100 * s.poisson:.1f})",
            f"{100 * s.time:.1f}",
            f"{100 * s.rate:.1f}",
            f"{s.lag:+.2f}",
            f"{100 * s.preempted:.1f}",
            *("–" if phi is None else f"{phi:.2f}" for phi in (*s.flat, *s.cum)),
        )
        for key, s in spreads.items()
    ]
    return _lines(head, lines)


def _unchanged(rates: Mapping[Key, Rates]) -> str:
    head = ["workload", "machine", "runs", "outcome", "flat", "cum", "groups", "rows"]
    head += ["findings", "GC figures", "gate total", "gate pause", "coverage"]
    head += [f"{test} {column}" for column in ("flat", "cum") for test in TESTS]
    lines = [
        (
            key.workload,
            key.condition,
            key.runs,
            FALSE.shown(rate.decided),
            *(FALSE.shown(rate.marked(name)) for name in ("flat", "cum", "groups")),
            " ".join(f"{rate.discoveries(name) or 0:.2f}" for name in ("flat", "cum")),
            NONE.shown(rate.findings),
            FALSE.shown(rate.marked("gc")),
            FALSE.shown(rate.trips("total")),
            FALSE.shown(rate.trips("pause")),
            COVERED.shown(rate.coverage()),
            *(
                FALSE.shown(rate.marked(f"{test} {column}"))
                for column in ("flat", "cum")
                for test in TESTS
            ),
        )
        for key, rate in rates.items()
    ]
    return _lines(head, lines)


def _planted(
    rates: Mapping[Key, Rates], truths: Mapping[Key, tuple[float, Grown]]
) -> str:
    head = ["workload", "machine", "planted", "true", "CPU/op", "runs"]
    head += ["flat row", "cum row"]
    head += ["outcome", "wrong", "gate total", "coverage", "false"]
    head += [f"{test} {column}" for column in ("flat", "cum") for test in TESTS]
    lines = [
        (
            key.workload,
            key.condition,
            f"+{key.size:g}",
            f"{100 * truths[key][0]:+.1f}",
            f"{100 * truths[key][1].part:+.1f} ± {100 * truths[key][1].error:.1f}",
            key.runs,
            _due(key).shown(rate.planted("flat")),
            _due(key).shown(rate.planted("cum")),
            _due(key).shown(rate.slower),
            WRONG.shown(rate.wrong),
            ANY.shown(rate.trips("total")),
            COVERED.shown(rate.coverage()),
            FALSE.shown(rate.false_part("flat")),
            *(
                ANY.shown(rate.planted(f"{test} {column}"))
                for column in ("flat", "cum")
                for test in TESTS
            ),
        )
        for key, rate in rates.items()
    ]
    return _lines(head, lines)


def _figures(rates: Mapping[Key, Rates]) -> str:
    """Return the table of time, CPU per op and the internal control."""
    figures = ("time", "cpu", "control")
    changed = any(key.size for key in rates)
    head = ["workload", "machine", *(["planted"] if changed else []), "runs"]
    columns = ["found", "wrong"] if changed else ["alarms"]
    columns += ["coverage", "± %", "error %"]
    head += [f"{figure} {column}" for figure in figures for column in columns]
    head.append("control there")
    lines = []
    for key, rate in rates.items():
        line: list[object] = [key.workload, key.condition]
        line += [f"+{key.size:g}"] if changed else []
        line.append(key.runs)
        for figure in figures:
            if changed:
                line += [ANY.shown(rate.found(figure))]
            wrong = rate.wrong_sign(figure)
            line += [(WRONG if changed else FALSE).shown(wrong)]
            line += [COVERED.shown(rate.coverage(figure))]
            line += [_percent(rate.width(figure)), _percent(rate.error(figure), "+")]
        lines.append((*line, ANY.shown(rate.there("control"))))
    return _lines(head, lines)


def _percent(value: float | None, sign: str = "") -> str:
    return "–" if value is None else f"{100 * value:{sign}.1f}"


def _lines(head: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)
