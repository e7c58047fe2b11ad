"""Logs of several processes, made of real ones: each line is found in its process."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pprofdiff.loaders.gclogs import parse

from .gctext import CAPTURES, DATA, reference, rows

STORIES = ("zstd", "syncpool", "rss-search", "health-check")
RESTARTS = st.lists(
    st.tuples(st.sampled_from(CAPTURES), st.integers(0, 30), st.integers(1, 40)),
    min_size=1,
    max_size=5,
    # A line that stands there twice is one collection, so each log is taken once.
    unique_by=lambda part: part[0],
)


def lines_of(path, count=None):
    return path.read_bytes().splitlines(keepends=True)[:count]


def shuffled(chance, *streams):
    """Return lines of several streams in turns that chance decides."""
    rest, out = [list(s) for s in streams], []
    while any(rest):
        stream = chance.choice([s for s in rest if s])
        count = chance.choice((1, 1, 2, 5))
        out += stream[:count]
        del stream[:count]
    return out


@settings(derandomize=True)
@given(RESTARTS)
def test_processes_one_after_the_other(parts):
    """Each log from some line on; one that could go on the one before is left out."""
    text, want, last = b"", [], (10**9, 0)
    for path, skip, count in parts:
        lines = lines_of(path)[skip : skip + count] or lines_of(path, 1)
        truth = reference(b"".join(lines))
        first = truth[0]
        falls = first["number"] <= last[0] or first["start_ms"] < last[1]
        if not (falls and (skip == 0 or not want)):
            continue
        text += b"".join(lines)
        want.append(truth)
        last = truth[-1]["number"], truth[-1]["start_ms"]
    if want:
        log = parse(text, "log")
        assert [rows(run.cycles) for run in log.runs] == want
        assert not log.mixed


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("story", STORIES)
def test_two_processes_at_a_time(story, seed):
    """What is read as one process's is, and all of it unless the log is mixed."""
    chance = random.Random(f"{story} {seed}")
    sides = [
        lines_of(DATA / story / side / "gctrace.log", 200) for side in ("base", "new")
    ]
    text = b"".join(shuffled(chance, *sides))
    truth = [reference(b"".join(side)) for side in sides]
    log = parse(text, "log")
    assert sum(run.lines_seen for run in log.runs) == sum(map(len, truth))
    got = [rows(run.cycles) for run in log.runs]
    for run in got:
        assert any(all(row in side for row in run) for side in truth)
    if not log.mixed:
        assert sorted(got, key=str) == sorted(truth, key=str)


@pytest.mark.parametrize("seed", range(6))
def test_a_process_next_to_a_much_older_one(seed):
    """A child that starts while its parent is at its hundredth collection."""
    chance = random.Random(seed)
    parent, child = (
        lines_of(DATA / "rss-search/base/gctrace.log"),
        lines_of(DATA / "zstd/new/gctrace.log", 40),
    )
    before, beside = parent[:300], parent[300:400]
    text = b"".join(before + shuffled(chance, beside, child))
    log = parse(text, "log")
    want = [reference(b"".join(before + beside)), reference(b"".join(child))]
    assert [rows(run.cycles) for run in log.runs] == want
    assert not log.mixed


@pytest.mark.parametrize("seed", range(4))
def test_lost_lines_are_counted_not_filled(seed):
    chance = random.Random(seed)
    lines = lines_of(DATA / "zstd/base/gctrace.log")
    kept = sorted(chance.sample(range(len(lines)), 400))
    log = parse(b"".join(lines[i] for i in kept), "log")
    assert len(log.runs) == 1
    assert log.longest.cycles.number.tolist() == [i + 1 for i in kept]
    assert log.longest.lines_expected == kept[-1] - kept[0] + 1


def test_torn_heads_belong_to_their_process():
    lines = lines_of(DATA / "syncpool/base/gctrace.log", 10)
    other = lines_of(DATA / "versions/go1.19/gctrace.log", 8)
    lines[4] = lines[4][:30] + b"\n"
    other[7] = other[7][:30] + b"\n"
    log = parse(b"".join(lines + other), "log")
    assert [(run.lines_seen, run.torn) for run in log.runs] == [(9, 1), (7, 1)]
    assert [run.lines_expected for run in log.runs] == [10, 7]


def test_processes_that_nothing_shows_apart_are_mixed():
    """Two processes at one number whose starts leave both orders open."""
    line = "gc {} @{}.{:03d}s 0%: 0+0+0 ms clock, 0+0/0/0+0 ms cpu, 4->4->{} MB, 5 MB goal, 2 P\n"
    output = [(5, 1, 0), (5, 1, 1), (6, 3, 0), (6, 4, 1), (7, 5, 1), (7, 5, 0)]
    text = "".join(line.format(n, t, 0, owner) for n, t, owner in output)
    log = parse(text.encode(), "log")
    assert log.mixed
    assert sum(run.lines_seen for run in log.runs) == 6
    for run in log.runs:
        assert run.lines_seen == run.lines_expected


def test_gomaxprocs_may_change_within_a_process():
    lines = lines_of(DATA / "syncpool/base/gctrace.log", 10)
    lines[5:] = [line.replace(b", 2 P", b", 1 P") for line in lines[5:]]
    log = parse(b"".join(lines), "log")
    assert [run.lines_seen for run in log.runs] == [10]
    assert not log.mixed


def amiss(log):
    """Return repeated and swapped lines, and torn ones, by run."""
    return [(run.repeated, run.swapped, run.torn) for run in log.runs]


@pytest.mark.parametrize("story", STORIES)
def test_two_neighbours_in_the_wrong_order_are_one_process(story):
    lines = lines_of(DATA / story / "base/gctrace.log", 20)
    want = reference(b"".join(lines))
    for at in range(19):
        text = [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]
        log = parse(b"".join(text), "log")
        assert [rows(run.cycles) for run in log.runs] == [want]
        assert (amiss(log), log.mixed) == ([(0, 1, 0)], False)


def test_two_lines_alone_are_of_two_processes_if_the_number_falls():
    first, second = lines_of(DATA / "syncpool/base/gctrace.log", 2)
    log = parse(second + first, "log")
    assert [run.cycles.number.tolist() for run in log.runs] == [[2], [1]]
    assert amiss(log) == [(0, 0, 0)] * 2


@pytest.mark.parametrize("distance", [0, 1, 5, 18])
def test_a_line_that_stands_there_twice_counts_once(distance):
    lines = lines_of(DATA / "syncpool/base/gctrace.log", 20)
    want = reference(b"".join(lines))
    for at in range(20 - distance):
        text = [*lines[: at + distance + 1], lines[at], *lines[at + distance + 1 :]]
        log = parse(b"".join(text), "log")
        assert [rows(run.cycles) for run in log.runs] == [want]
        assert (amiss(log), log.mixed) == ([(1, 0, 0)], False)


def test_a_log_that_stands_there_thrice_counts_once():
    lines = lines_of(DATA / "zstd/base/gctrace.log")
    log = parse(b"".join(lines * 3), "log")
    assert [rows(run.cycles) for run in log.runs] == [reference(b"".join(lines))]
    assert (amiss(log), log.mixed) == ([(2 * len(lines), 0, 0)], False)


def test_lines_that_differ_in_one_digit_are_not_repeated():
    lines = lines_of(DATA / "syncpool/base/gctrace.log", 10)
    other = lines[4].replace(b" MB goal", b"0 MB goal")
    log = parse(b"".join([*lines[:5], other, *lines[5:]]), "log")
    assert sum(run.lines_seen for run in log.runs) == 11
    assert [run.repeated for run in log.runs] == [0] * len(log.runs)


def test_each_run_counts_its_own_lines_amiss():
    one = lines_of(DATA / "syncpool/base/gctrace.log", 10)
    other = lines_of(DATA / "versions/go1.19/gctrace.log", 10)
    want = [reference(b"".join(lines)) for lines in (one, other)]
    one[3:3] = [one[2]]
    other[5:7] = other[6], other[5]
    log = parse(b"".join(one + other), "log")
    assert [rows(run.cycles) for run in log.runs] == want
    assert (amiss(log), log.mixed) == ([(1, 0, 0), (0, 1, 0)], False)


@pytest.mark.slow
def test_processes_in_step_are_not_lines_in_the_wrong_order():
    """Each line of the second stands behind the next one of the first."""
    line = "gc {} @{}.{:03d}s 0%: 0+0+0 ms clock, 0+0/0/0+0 ms cpu, 4->4->{} MB, 5 MB goal, 2 P\n"
    first = [line.format(n, n, 900, 0) for n in range(1, 22)]
    second = [line.format(n, n, 100, 1) for n in range(1, 21)]
    pairs = zip(first[1:], second, strict=True)
    text = first[0] + "".join(a + b for a, b in pairs)
    log = parse(text.encode(), "log")
    assert [run.cycles.heap_live_mb.tolist() for run in log.runs] == [
        [0] * 21,
        [1] * 20,
    ]
    assert (amiss(log), log.mixed) == ([(0, 0, 0)] * 2, False)
