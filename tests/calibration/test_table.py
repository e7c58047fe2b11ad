"""The table marks what misses its bound, and only that."""

import pytest

from tests.calibration.judging import Key
from tests.calibration.plain import TESTS
from tests.calibration.rates import Rates, too_many
from tests.calibration.said import TABLES, Figure, Marks, Said
from tests.calibration.spread import Grown
from tests.calibration.table import markdown

NAMES = (*TABLES, *(f"{test} {column}" for test in TESTS for column in ("flat", "cum")))


def said(ratio, low, high, rows=0, verdict="unknown", **more):
    figure = Figure(ratio, low, high, verdict)
    figures = {"time": figure, "cpu": figure}
    tables = {name: Marks(rows, bool(rows)) for name in NAMES}
    return Said(verdict, "time", figures, tables, **more)


def cells(text, heading):
    """Return the only line of the table under a heading, by column."""
    part = text.partition(f"## {heading}")[2].partition("##")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    head, line = ([c.strip() for c in lines[i].strip("|").split("|")] for i in (0, 2))
    return dict(zip(head, line, strict=True))


def test_alarms_beyond_five_in_a_hundred_are_bold():
    one, key = dict.fromkeys(("time", "cpu", "control"), 1.0), Key("w", "quiet", 0, 5)
    right = [said(1.0, 0.9, 1.1)] * 95
    wrong = [said(1.2, 1.1, 1.3, 2, "slower", tripped=frozenset(["total"]))] * 5
    kept = Rates(right + wrong, one)
    line = cells(markdown({key: kept}, {}, {}), "Unchanged builds: false alarms")
    assert (line["outcome"], line["flat"], line["gate total"]) == ("5", "5", "5")
    assert (line["coverage"], line["findings"], line["rows"]) == (
        "95",
        "0",
        "0.05 0.05",
    )
    missed = Rates([*right, *wrong, wrong[0]], one)
    line = cells(markdown({key: missed}, {}, {}), "Unchanged builds: false alarms")
    assert (line["outcome"], line["cum"], line["gate total"]) == ("**6**",) * 3
    some = Rates([*right, said(1.0, 0.9, 1.1, findings=1)], one)
    line = cells(markdown({key: some}, {}, {}), "Unchanged builds: false alarms")
    assert line["findings"] == "**1**"
    assert line["coverage"] == "**100**"


@pytest.mark.parametrize(
    ("condition", "size", "runs", "due"),
    [
        ("quiet", 5, 5, True),
        ("quiet", 10, 10, True),
        ("quiet", 5, 3, False),
        ("quiet", 2, 10, False),
        ("busy", 10, 5, True),
        ("busy", 5, 10, False),
    ],
)
def test_a_change_that_is_large_enough_is_to_be_found(condition, size, runs, due):
    key, truth = Key("w", condition, size, runs), {"time": 1.05, "cpu": 1.05}
    got = said(1.06, 1.01, 1.1, 1, "slower")
    rates = Rates([got] * 79 + [said(1.0, 0.9, 1.1)] * 21, truth)
    text = markdown({key: rates}, {}, {key: (0.05, Grown(0.06, 0.01))})
    line = cells(text, "One function dearer: how often it is found")
    shown = "**79**" if due else "79"
    assert (line["flat row"], line["outcome"]) == (shown, shown)
    assert (line["true"], line["CPU/op"]) == ("+5.0", "+6.0 ± 1.0")
    figures = cells(text, "One function dearer: each figure of the outcome")
    assert (figures["cpu found"], figures["cpu coverage"]) == ("79", "**100**")
    assert (figures["cpu wrong"], figures["control coverage"]) == ("0", "–")


@pytest.mark.slow
def test_chance_is_allowed_for_where_pairs_are_independent():
    assert not too_many(0.05, 200)
    assert not too_many(0.1, 200)
    assert too_many(0.12, 200)
    assert not too_many(0.12, 25)
