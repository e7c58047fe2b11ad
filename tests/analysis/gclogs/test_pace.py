"""GOGC and memory limits, distinguished by the goals that a log prints."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pprofdiff.analysis.gclogs.compare import compare_logs, pace_of
from pprofdiff.loaders.gclogs import parse
from pprofdiff.model.side import Capture
from tests.examples import daily, examples

PAIRS = Path(__file__).parents[2] / "field" / "pairs"


def pace(text):
    """Return the pace of one log."""
    logs = (Capture("gctrace.log", "gctrace", parse(text.encode(), "gctrace.log")),)
    compared = compare_logs((("base", logs), ("new", logs)))
    assert pace_of(compared.base) == pace_of(compared.new)
    return pace_of(compared.base)


def log(gogc, live, *, limit=None, stacks=0, first=1, cycles=40):
    """Return what a process prints: a goal of live heap and stacks by GOGC, or a limit.

    Sizes are in MiB and rounded down, as the runtime prints them (runtime/mgc.go).
    """
    lines = []
    goal = 4 * gogc / 100
    for number in range(1, cycles + 1):
        heap = live + number % 3 / 3
        lines.append(
            f"gc {number} @{number / 2:.3f}s 5%: 0.1+20+0.2 ms clock, 0.4+1.0/20/0+0.8 ms "
            f"cpu, {int(goal)}->{int(goal) + 1}->{int(heap)} MB, {int(goal)} MB goal, "
            f"{stacks} MB stacks, 0 MB globals, 2 P\n"
        )
        goal = heap + (heap + stacks) * gogc / 100
        if limit is not None:
            goal = min(goal, limit)
    return "".join(lines[first - 1 :])


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(25, 800), st.integers(20, 4000), st.integers(0, 50))
def test_a_goal_by_gogc_shows_gogc(gogc, live, stacks):
    got = pace(log(gogc, live, stacks=stacks))
    # Each size is cut by up to one MiB: the goal, and what it is divided by.
    assert got.effective == pytest.approx(gogc, abs=(100 + gogc) * 1.5 / live)
    assert got.low <= gogc <= got.high
    assert got.follows_gogc
    assert not got.limited
    assert got.low_gogc <= gogc or got.low_gogc == 100


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(50, 400), st.integers(20, 4000), st.floats(0.02, 0.6))
def test_a_lower_goal_is_a_limits(gogc, live, part):
    """A limit that leaves less than GOGC asks for, by more than a quarter."""
    got = pace(log(gogc, live, limit=live + 2 + live * gogc / 100 * part))
    assert got.low <= gogc <= got.high
    if got.effective * 1.25 < got.low:
        assert got.limited
        assert not got.follows_gogc
    # Rounding aside, that is what was planted; the first goal gives GOGC to 25 at best.
    if live > 400 and gogc * part * 1.3 < got.low:
        assert got.limited


@pytest.mark.parametrize("live", [20, 300])
def test_a_limit_that_is_far_binds_nothing(live):
    assert pace(log(100, live, limit=live * 3)) == pace(log(100, live))


@pytest.mark.parametrize(("gogc", "got"), [(90, 100.0), (100, 100.0), (120, 100.0)])
def test_what_may_be_the_default_is_called_so(gogc, got):
    assert pace(log(gogc, 500)).gogc == got
    assert pace(log(300, 500)).gogc == pytest.approx(300, rel=0.02)
    assert pace(log(100, 500)).low_gogc == 100.0


def test_a_log_that_began_later_shows_no_gogc():
    later = pace(log(100, 300, first=5))
    assert (later.low, later.high) == (None, None)
    assert not later.limited
    assert not later.follows_gogc
    assert later.effective == pytest.approx(100, rel=0.02)


@pytest.mark.parametrize("live", [0, 3])
def test_heaps_as_small_as_their_rounding_show_nothing(live):
    assert pace(log(100, live)) is None


def test_cycles_that_are_missing_are_not_taken_for_neighbours():
    lines = log(100, 300).splitlines(keepends=True)
    assert pace("".join(lines[::2])) is None


@pytest.mark.parametrize(
    ("pair", "side", "gogc", "limited"),
    [
        ("gogc-lowered-chi", "base", 100, False),
        ("gogc-lowered-chi", "new", 20, False),
        ("gogc-raised-buntdb", "base", 25, False),
        ("gogc-raised-buntdb", "new", 200, False),
        ("memlimit-chi", "base", 100, False),
        ("memlimit-chi", "new", 100, True),
        ("memlimit-buntdb", "base", 100, False),
        ("memlimit-buntdb", "new", 100, True),
    ],
)
def test_real_processes(pair, side, gogc, limited):
    """Planted in the environment, as ``pair.toml`` says."""
    got = pace((PAIRS / pair / side / "gctrace.log").read_text("utf-8"))
    assert got.limited is got.held is limited
    assert got.follows_gogc is not limited
    assert got.low <= gogc <= got.high
    if not limited:
        assert got.effective == pytest.approx(gogc, rel=0.15)


PROGRAM = """package main
import "os"
import "strconv"
var kept [][]byte
var sink []byte
func main() {
    rounds, _ := strconv.Atoi(os.Args[1])
    for i := 0; i < 48; i++ { kept = append(kept, make([]byte, 1<<20)) }
    for i := 0; i < rounds; i++ { sink = make([]byte, 1<<16) }
}
"""


@pytest.mark.go
@pytest.mark.parametrize(
    ("words", "limited"),
    daily(
        [({}, False), ({"GOGC": "50"}, False), ({"GOGC": "400"}, False), ({"GOMEMLIMIT": "64MiB"}, True)],
        [({"GOGC": "50"}, False), ({"GOMEMLIMIT": "64MiB"}, True)],
    ),
    ids=str,
)  # fmt: skip
def test_a_process_of_this_toolchain(tmp_path, words, limited):
    source = tmp_path / "main.go"
    source.write_text(PROGRAM, "utf-8")
    binary = tmp_path / "program"
    subprocess.run(["go", "build", "-o", binary, source], check=True, timeout=300)
    environment = os.environ | {"GODEBUG": "gctrace=1"} | words
    done = subprocess.run(
        [binary, "60000"], check=True, env=environment, capture_output=True, text=True,
        timeout=120,
    )  # fmt: skip
    got = pace(done.stderr)
    assert got.limited is limited
    if not limited:
        gogc = int(words.get("GOGC", "100"))
        assert got.low <= gogc <= got.high
        assert got.effective == pytest.approx(gogc, rel=0.15)
        assert got.follows_gogc
