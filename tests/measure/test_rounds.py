"""Turns: their order, when a verdict is sure, what an incomplete round leaves."""

from __future__ import annotations

import errno
import re
import time
from pathlib import Path

import numpy as np
import pytest

from pprofdiff.analysis.figures.costs import CPU, TIME
from pprofdiff.analysis.judge.totals import Ratio
from pprofdiff.analysis.outcome.deciding import outcome
from pprofdiff.analysis.outcome.model import Measure, Outcome
from pprofdiff.errors import FetchError, MeasureError
from pprofdiff.measure.rounds import (
    FEWEST_ROUNDS,
    Limits,
    sure,
    take_turns,
    to_trace,
    unexplained,
)
from pprofdiff.measure.sides import order
from tests.analysis.measuring import Unit, compared, path


def outcome_of(verdict, ratio, bounds, narrow=None, confidence=95):
    """Return an outcome that rests on one figure."""
    judged = Ratio(ratio, *bounds, narrow or bounds, bounds, 0.1)
    measure = Measure(TIME, 1.0, ratio, judged, "test", confidence=confidence)
    return Outcome(verdict, (measure,))


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Outcome(), False),
        (outcome_of("unknown", 1.5, (0.9, 2.5)), False),
        (outcome_of("slower", 1.5, (1.4, 1.6)), True),
        (outcome_of("slower", 1.10, (1.01, 1.20)), False),
        (outcome_of("faster", 0.5, (0.45, 0.55)), True),
        (outcome_of("faster", 0.90, (0.82, 0.99)), False),
        (outcome_of("same", 1.0, (0.99, 1.01), (0.995, 1.005)), True),
        (outcome_of("same", 1.01, (0.99, 1.03), (1.001, 1.019)), False),
        (outcome_of("slower", 1.5, (0.0, float("inf"))), False),
    ],
)
def test_sure(outcome, expected):
    assert sure(outcome) is expected


SLOWER = ("slower", 1.5, (1.4, 1.6))


@pytest.mark.parametrize(
    ("time", "cpu", "expected"),
    [
        (SLOWER, None, True),
        (SLOWER, 1.0, True),
        (SLOWER, 0.9, True),
        (SLOWER, 1.4, False),
        # Next to other programs an operation takes twice its CPU, on both sides.
        (("faster", 0.7, (0.65, 0.75)), 0.71, False),
        (("faster", 0.7, (0.65, 0.75)), 1.0, True),
        (("same", 1.0, (0.99, 1.01)), 1.3, False),
        (("unknown", 1.3, (0.9, 1.7)), 1.0, False),
    ],
)
def test_a_trace_is_taken_where_time_moved_and_cpu_did_not(time, cpu, expected):
    first = outcome_of(*time).headline
    assert first.verdict == time[0]
    measures = (first,)
    if cpu is not None:
        measures += (first._replace(cost=CPU, judged=first.judged._replace(ratio=cpu)),)
    assert unexplained(Outcome(time[0], measures)) is expected


@pytest.mark.parametrize(("within", "expected"), [(0.02, True), (0.005, False)])
def test_the_same_is_sure_within_what_was_asked(within, expected):
    got = outcome_of("same", 1.0, (0.99, 1.01), (0.995, 1.005))
    measure = got.headline._replace(same_within=within)
    assert sure(Outcome("same", (measure,))) is expected


@pytest.mark.slow
@pytest.mark.parametrize(("confidence", "level"), [(95, 0.05), (99, 0.01)])
def test_looking_after_each_round_hardly_adds_false_alarms(confidence, level):
    """Of 10 pairs of runs of one build so many are marked, had one looked at the end.

    To stop at the first interval without 1 would alarm more than half as often again.
    """
    rng = np.random.default_rng(15)
    tries, deviation = 4_000, 0.05
    early = first = 0
    for deltas in rng.normal(0.0, deviation * 2**0.5, (tries, 10)):
        looks = [
            _look(deltas[:n], deviation, confidence) for n in range(FEWEST_ROUNDS, 11)
        ]
        got = [look.verdict != "unknown" for look in looks]
        first += any(got)
        early += got[-1] or any(map(sure, looks))
    # Each early look adds 0.1 % at most; two standard errors are 0.7 % and 0.3 %.
    added = 0.001 * (10 - FEWEST_ROUNDS)
    assert early / tries < level + added + 2 * (level * (1 - level) / tries) ** 0.5
    assert first / tries > 1.5 * level


@pytest.mark.parametrize("confidence", [95, 99])
def test_an_early_look_asks_for_three_standard_errors(confidence):
    """Whatever confidence the interval has, the verdict is sure from 3.29 on."""
    for errors, expected in ((3.2, False), (3.4, True)):
        deltas = np.full(8, errors * (2 / 8) ** 0.5 * 0.05)
        assert sure(_look(deltas, 0.05, confidence)) is expected


def _look(deltas, deviation, confidence):
    """Return the verdict on these differences, where their spread is known."""
    mean = float(deltas.mean())
    reach = {95: 1.96, 99: 2.576}[confidence]
    half = reach * deviation * (2 / len(deltas)) ** 0.5
    low, high = np.exp(mean - half), np.exp(mean + half)
    verdict = "slower" if low > 1 else "faster" if high < 1 else "unknown"
    bounds = float(low), float(high)
    return outcome_of(verdict, float(np.exp(mean)), bounds, confidence=confidence)


@pytest.mark.parametrize(
    ("cpu", "wall", "expected"),
    [
        # Time is CPU time, then three times that: it waits.
        (600, 3.0, ("A",)),
        (1800, 1.0, ()),
        # CPU moves by a little more than half of what time does, and by a little less.
        (900, 1.45, ()),
        (900, 1.55, ("A",)),
        (600, 1.0, ()),
        # As much time of less CPU is no change of time.
        (300, 2.0, ()),
        (200, 1.5, ()),
        (300, 6.0, ("A",)),
    ],
)
def test_of_several_those_that_wait_are_worth_a_trace(cpu, wall, expected):
    stack = path("F")
    others = Unit({stack: 600}, name="B"), Unit({stack: 600}, name="C/sub")
    base = Unit({stack: 600}, name="A"), *others
    new = Unit({stack: cpu}, wall=wall, name="A"), others[0], others[1]._replace(wall=3)
    assert to_trace(outcome(compared(base, new))) == expected


class Writes:
    """A workload that writes which run it is; `fails` is raised in a run of that number.

    `now` is what a clock says by which each run takes `seconds`.
    """

    def __init__(self, fails=None, at=0, seconds=0.0, *, enough=True):
        self.runs = []
        self.fails, self.at, self.took = fails, at, seconds
        self.whole, self.enough = 300.0, enough
        self.now = 0.0

    def seconds(self, spent):
        """Return how long rounds go on."""
        return self.whole - spent

    def round(self, folders):
        """Run both sides in turns."""
        began = []
        for side in order(len(self.runs) // 2):
            began.append((side, time.time()))
            self.run(side, folders[side])
        return tuple(began)

    def run(self, side, folder):
        """Write a file, and fail where that is asked for."""
        assert Path(folder).is_absolute()
        assert list(Path(folder).iterdir()) == []
        self.runs.append((side, Path(folder).name))
        (Path(folder) / "run").write_text(side)
        self.now += self.took
        if self.fails is not None and len(self.runs) == self.at:
            raise self.fails


class Heard:
    """Hears what happens."""

    def __init__(self):
        self.rounds = []

    def warn(self, message):
        """Drop it."""

    def doing(self, message):
        """Drop it."""

    def round(self, number, most, left):
        """Keep it."""
        self.rounds.append((number, most, left))


def unknown():
    return Outcome()


def left(folder):
    return sorted(str(p.relative_to(folder)) for p in Path(folder).rglob("run"))


def test_the_order_matches_thue_and_morse():
    """Each half of 2, 4, 8 … rounds is the other half with the sides exchanged."""
    orders = [order(number)[0] for number in range(64)]
    other = {"base": "new", "new": "base"}
    for size in (1, 2, 4, 8, 16, 32):
        assert orders[size : 2 * size] == [other[side] for side in orders[:size]]
    assert all(set(order(number)) == {"base", "new"} for number in range(64))


def test_rounds_go_to_numbered_folders_in_order(tmp_path):
    work, heard = Writes(), Heard()
    rounds, stopped = take_turns(work, str(tmp_path), Limits(3), unknown, heard)
    assert stopped == "rounds"
    expected = [(s, str(n + 1)) for n in range(3) for s in order(n)]
    assert work.runs == expected
    assert [[(s, str(r.number)) for s, _ in r.started] for r in rounds] == [
        expected[:2],
        expected[2:4],
        expected[4:],
    ]
    began = [at for one in rounds for _, at in one.started]
    assert began == sorted(began)
    assert [one[:2] for one in heard.rounds] == [(1, 3), (2, 3), (3, 3)]
    assert heard.rounds[-1][2] == 0.0


def test_a_sure_verdict_ends_it_after_five_rounds(tmp_path):
    asked = []

    def sure():
        asked.append(len(list((tmp_path / "base").iterdir())))
        return outcome_of("slower", 1.5, (1.4, 1.6))

    rounds, stopped = take_turns(Writes(), str(tmp_path), Limits(9), sure, Heard())
    assert (len(rounds), stopped, asked) == (5, "sure", [5])


@pytest.mark.parametrize(
    ("enough", "got"),
    [(True, unknown()), (False, outcome_of("slower", 1.5, (1.4, 1.6)))],
)
def test_what_is_not_sure_or_lacks_samples_goes_on(tmp_path, enough, got):
    work = Writes(enough=enough)
    rounds, stopped = take_turns(work, str(tmp_path), Limits(7), lambda: got, Heard())
    assert (len(rounds), stopped) == (7, "rounds")


def test_the_workload_says_how_long_where_the_user_does_not(tmp_path):
    for seconds, most, spent in ((1e-9, None, 0), (300.0, 1e-9, 0), (300.0, None, 300)):
        work = Writes()
        work.whole = seconds
        out = str(tmp_path / f"{seconds} {spent}")
        limits = Limits(9, most)
        rounds, stopped = take_turns(work, out, limits, unknown, Heard(), spent)
        assert (len(rounds), stopped) == (1, "time")


@pytest.mark.parametrize(
    ("seconds", "whole"), [(0.125, 4), (0.25, 2), (0.375, 1), (0.5, 1), (9.0, 1)]
)
def test_no_round_begins_that_would_end_late(tmp_path, monkeypatch, seconds, whole):
    """A round is two runs, and all may take 1 s; the first round is made anyway."""
    work = Writes(seconds=seconds)
    monkeypatch.setattr("pprofdiff.measure.rounds.time.monotonic", lambda: work.now)
    limits = Limits(1000, 1.0)
    rounds, stopped = take_turns(work, str(tmp_path), limits, unknown, Heard())
    assert (len(rounds), stopped) == (whole, "time")


@pytest.mark.parametrize("at", [3, 4, 5])
def test_an_interrupt_keeps_whole_rounds(tmp_path, at):
    work = Writes(KeyboardInterrupt(), at)
    rounds, stopped = take_turns(work, str(tmp_path), Limits(9), unknown, Heard())
    whole = (at - 1) // 2
    assert (len(rounds), stopped) == (whole, "interrupted")
    assert left(tmp_path) == sorted(
        f"{side}/{n + 1}/run" for n in range(whole) for side in ("base", "new")
    )


@pytest.mark.parametrize("at", [1, 2])
def test_an_interrupt_before_a_whole_round_is_one(tmp_path, at):
    with pytest.raises(KeyboardInterrupt):
        take_turns(
            Writes(KeyboardInterrupt(), at), str(tmp_path), Limits(), unknown, Heard()
        )
    assert left(tmp_path) == []


def test_a_run_that_fails_is_an_error_and_leaves_nothing_of_its_round(tmp_path):
    work = Writes(MeasureError("new: fails"), 4)
    with pytest.raises(MeasureError, match="new: fails"):
        take_turns(work, str(tmp_path), Limits(), unknown, Heard())
    assert left(tmp_path) == ["base/1/run", "new/1/run"]


def test_a_full_disk_names_the_folder(tmp_path):
    work = Writes(OSError(errno.ENOSPC, "No space left on device"), 2)
    got = f"{re.escape(str(tmp_path))}: cannot be written: No space left"
    with pytest.raises(FetchError, match=got):
        take_turns(work, str(tmp_path), Limits(), unknown, Heard())
    assert left(tmp_path) == []
