"""Profiles at about equal work: what did not change has no mark, and the factor is true."""

import json
import shutil

import numpy as np
import pytest
from hypothesis import strategies as st
from msgspec.structs import replace

from pprofdiff.analysis.control.about_work import at_about_equal_work
from pprofdiff.analysis.control.totals import total_noise
from pprofdiff.analysis.outcome.deciding import outcome
from pprofdiff.analysis.profiles.groups import judged_groups
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import counted, rated
from pprofdiff.api import load
from pprofdiff.api.comparison import compare_paths
from pprofdiff.loaders.profiles.encode import compress, encode
from pprofdiff.model.profiles.profile import ValueType
from pprofdiff.model.side import Side
from tests.analysis.building import MARK, compared, given, profile
from tests.calibration.control import Runs, full_name, split
from tests.conftest import STORIES
from tests.examples import daily
from tests.field.capture import PAIRS

COUNTS = st.lists(st.integers(100, 5000), min_size=10, max_size=16)
SPACE = (ValueType("alloc_objects", "count"), ValueType("alloc_space", "bytes"))


def about(diff):
    """Return one comparison at about equal work, where that shows."""
    (scaled,) = at_about_equal_work((diff,), Side("base"), Side("new"))
    return scaled


def functions(counts, *above, mark=0):
    """Return a CPU profile of one function a count, called by the functions `above`."""
    stacks = [((f"example.com/a.F{i}", *above), n) for i, n in enumerate(counts)]
    return profile([*stacks, (MARK, mark)])


def allocs(samples):
    """Return an allocs profile of stacks, each with so many samples of 512 KiB."""
    values = [(stack, (n, n << 19)) for stack, n in samples]
    made = profile(values, types=SPACE, period=1 << 19, duration_ns=None)
    return replace(made, period_type=ValueType("space", "bytes"))


def marked(diff):
    """Return the names of functions and groups that are said to have changed."""
    groups = {group.id: group.noise is False for group in judged_groups(diff)}
    table = diff.table("functions")
    judged = {column: table.judge(column) for column in ("flat", "cum")}
    rows = np.zeros(len(table.names), np.bool_)
    for one in judged.values():
        rows |= ~one.noise & one.known
    named = [table.names[row] for row in np.flatnonzero(rows)]
    return [*named, *(name for name, moved in groups.items() if moved)]


@given(COUNTS, st.integers(0, 900), st.integers(1, 40), st.integers(1, 40))
def test_a_side_that_is_scaled_as_a_whole_has_no_marks(counts, mark, old, new):
    base, now = (
        functions([n * times for n in counts], mark=mark * times)
        for times in (old, new)
    )
    diff = about(compared(base, now))
    by = diff.normalization
    assert by.mode == "about"
    assert by.inferred.low <= new / old <= by.inferred.high
    assert by.new_factor * new / old == pytest.approx(1, rel=1e-9)
    assert marked(diff) == []
    assert total_noise(diff) is True


@given(COUNTS, st.integers(2, 30))
def test_values_stay_raw_and_sums_are_kept(counts, times):
    sides = functions(counts), functions([n * times for n in counts])
    plain = compared(*sides)
    plain.table("functions"), plain.ledger, plain.totals
    scaled = about(plain)
    fresh = about(compared(*sides))
    assert scaled.totals == fresh.totals == plain.totals
    assert scaled.ledger is plain.ledger
    for column in ("flat", "cum"):
        mine, theirs = (d.table("functions").scaled(column) for d in (scaled, fresh))
        assert [side.tolist() for side in mine] == [side.tolist() for side in theirs]
        raw = plain.table("functions").raw(column)
        assert (mine[1] == raw[1] * scaled.normalization.new_factor).all()


@pytest.mark.parametrize("times", [0.4, 1.0, 2.5])
@pytest.mark.parametrize("change", [2.0, 0.0])
def test_what_changed_alone_is_marked(times, change):
    others = [600] * 14
    new = [round(n * times) for n in others]
    diff = about(
        compared(
            functions([900, *others]), functions([round(900 * times * change), *new])
        )
    )
    inferred = diff.normalization.inferred
    assert inferred.low < times < inferred.high
    got = [name for name in marked(diff) if name.startswith("example.com")]
    assert got == ["example.com/a.F0"]
    assert total_noise(diff) is False


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("times", daily((1.0, 2.0), (2.0,)))
@pytest.mark.parametrize("end", ["lineproto.Parse", "tsdb.(*Shard).Write"])
def test_a_planted_change_is_found_at_the_factor_that_was_planted(end, times):
    """Twelve splits of eight runs of one build, which did 727 to 800 points/ms."""
    runs, rng = Runs("unchanged"), np.random.default_rng(7)
    function, of_runs = full_name(runs, end), 800 / 727
    diffs = [about(split(runs, rng, 3, function, 0.10, times)) for _ in range(12)]
    diffs = [diff for diff in diffs if diff.normalization.mode == "about"]
    assert len(diffs) >= 9
    allowed = {name for name in runs.merged.function_names() if name.endswith(end)}
    allowed |= relatives(runs, function)
    wrong = 0
    for diff in diffs:
        inferred = diff.normalization.inferred
        assert inferred.low / of_runs <= times <= inferred.high * of_runs
        table = diff.table("functions")
        judged = table.judge("cum")
        moved = {table.names[i] for i in np.flatnonzero(~judged.noise & judged.known)}
        wrong += bool(moved - allowed)
    # One of twenty tables of unchanged runs may have a row that chance marked.
    assert wrong <= 1


def relatives(runs, function):
    """Return the functions in stacks that have one: its callers and what it calls."""
    merged = runs.merged
    chosen = np.flatnonzero(runs.beneath(function))
    return {name for name in merged.take(chosen).function_names() if name}


def test_silence_where_nearly_all_is_beneath_one_function():
    """A cache in front of it would move all alike: its calls are no operations."""
    above = ("example.com/a.Render", "main.page", "main.serve", "main.main")
    counts = [400] * 12
    half = [n // 2 for n in counts]
    diff = about(compared(functions(counts, *above), functions(half, *above)))
    assert diff.normalization.mode == "composition"
    # What serves pages shows how many there are.
    beside = [((f"main.part{i}", "main.serve", "main.main"), 200) for i in range(6)]
    sides = (
        profile([*(((f"example.com/a.F{i}", *above), n) for i, n in enumerate(some)),
                 *((stack, n * times // 2) for stack, n in beside)])
        for some, times in ((counts, 2), (half, 1))
    )  # fmt: skip
    diff = about(compared(*sides))
    assert diff.normalization.inferred.ratio == pytest.approx(0.5, rel=0.05)


@pytest.mark.parametrize("called", [(), ("main.main",), ("main.op", "main.main"),
                                    ("main.BenchmarkX", "testing.(*B).runN", "testing.(*B).launch")])  # fmt: skip
def test_what_a_goroutine_does_over_and_over_is_an_operation(called):
    counts = [400] * 12
    sides = functions(counts, *called), functions([3 * n for n in counts], *called)
    diff = about(compared(*sides))
    assert diff.normalization.inferred.ratio == pytest.approx(3)


def test_silence_where_there_is_no_majority_or_are_too_few():
    split_up = [400] * 12, [400] * 6 + [800] * 6
    few = [900] * 6, [1800] * 6
    for base, new in (split_up, few):
        diff = about(compared(functions(base), functions(new)))
        assert diff.normalization.mode == "composition"


def test_silence_across_go_releases(data_folder):
    releases = [data_folder / "versions" / f"go1.{n}" / "cpu.pb.gz" for n in (24, 26)]
    got = compare_paths(*releases).data
    assert got.cpu.normalization.mode == "composition"


@pytest.mark.slow
def test_the_work_that_is_given_is_taken(data_folder):
    sides = [data_folder / "syncpool" / side for side in ("base", "new")]
    settings = {
        "share": Settings(normalize=True),
        "per_work": Settings(work=counted((3.0, 4.0))),
        "composition": Settings(work=rated((3.0, 4.0))),
    }
    for mode, asked in settings.items():
        name = "allocs" if mode == "composition" else "cpu"
        only = [side / f"{name}.pb.gz" for side in sides]
        got = compare_paths(*only, asked).data.profiles[0]
        assert got.normalization.mode == mode


@pytest.mark.slow
@pytest.mark.parametrize("story", STORIES)
def test_waits_since_the_start_are_scaled_by_what_was_done(data_folder, story):
    sides = [data_folder / story / side for side in ("base", "new")]
    done = [json.loads((s / "work.json").read_text("utf-8")) for s in sides]
    waits = [
        diff.normalization
        for diff in compare_paths(*sides).data.profiles
        if diff.name in ("block", "mutex")
    ]
    assert {by.mode for by in waits} == {"about"}
    for by in waits:
        true = done[1]["operations"] / done[0]["operations"]
        assert by.inferred.low <= true <= by.inferred.high


@pytest.mark.slow
def test_waits_of_a_known_time_are_by_that_time(data_folder, tmp_path):
    """Nothing is inferred where profiles say over what time they count."""
    for side in ("base", "new"):
        shutil.copytree(data_folder / "zstd" / side, tmp_path / side)
        for name in ("block", "mutex"):
            path = tmp_path / side / f"{name}.pb.gz"
            timed = replace(load(path).data, duration_ns=30 * 10**9)
            path.write_bytes(compress(encode(timed)))
    profiles = compare_paths(tmp_path / "base", tmp_path / "new").data.profiles
    waits = [d.normalization.mode for d in profiles if d.name in ("block", "mutex")]
    assert len(waits) == 2
    assert "about" not in waits


@pytest.mark.slow
@pytest.mark.parametrize("back", [False, True])
def test_health_checks_cost_what_they_did_but_for_the_log(data_folder, back):
    sides = [data_folder / "health-check" / side for side in ("base", "new")]
    got = compare_paths(*sides[:: -1 if back else 1])
    data = got.data
    rates = [json.loads((s / "work.json").read_text("utf-8")) for s in sides]
    true = rates[1]["operations"] / rates[0]["operations"]
    inferred = data.cpu.normalization.inferred
    assert inferred.low <= (1 / true if back else true) <= inferred.high
    kept = ("target.answer", "net.(*conn).Write", "internal/poll.(*FD).Read")
    names = marked(data.cpu)
    assert "syscall" not in names
    assert not [name for name in names if name.endswith(kept)]
    assert [name for name in names if name.endswith("debuglog.(*Logger).Debug")]
    findings = got.report().findings.found
    assert findings[0].title.startswith("debuglog.(*Logger).Debug ")


@pytest.mark.slow
@pytest.mark.parametrize("back", [False, True])
def test_messages_of_zstd_cost_what_they_did_but_for_the_encoder(data_folder, back):
    sides = [data_folder / "zstd" / side for side in ("base", "new")]
    got = compare_paths(*sides[:: -1 if back else 1])
    work = [json.loads((s / "work.json").read_text("utf-8")) for s in sides]
    done = {
        "cpu": [w["operations"] / w["seconds"] for w in work],
        "alloc_space": [w["since_start"]["operations"] for w in work],
    }
    for diff in got.data.profiles:
        if diff.sample_type.type not in done:
            continue
        base, new = done[diff.sample_type.type]
        inferred = diff.normalization.inferred
        assert inferred.low <= (base / new if back else new / base) <= inferred.high
        kept = ("json.Marshal", "device.(*Store).Update", "json.mapEncoder.encode")
        # As much on both sides, whatever they did: it is what starts the program.
        kept = (*kept, "device.NewStore", "main.setup")
        assert not [name for name in marked(diff) if name.endswith(kept)]
    causes = [one for one in got.report().findings.found if one.parent is None]
    assert any(one.title.startswith("codec.Compress ") for one in causes)
    whole = got.data.cpu.normalization.delta(*got.data.cpu.totals)
    assert sum(one.explains or 0 for one in causes) == pytest.approx(whole, rel=0.02)


@pytest.mark.slow
def test_a_cache_in_front_of_most_code_is_no_work(tmp_path):
    """Of this pair, operations are 3.5 times as many, and renderings 0.83 times."""
    for side in ("base", "new"):
        (tmp_path / side).mkdir()
        for kind in ("cpu", "allocs"):
            source = PAIRS / "blog-cache" / side / f"{kind}.pb.gz"
            shutil.copy(source, tmp_path / side / source.name)
    data = compare_paths(tmp_path / "base", tmp_path / "new").data
    modes = {d.normalization.mode for d in data.profiles if d.name in ("cpu", "allocs")}
    assert modes == {"composition"}
    assert outcome(data).verdict == "unknown"


@given(COUNTS, st.integers(40, 900), st.integers(2, 40))
def test_what_starts_a_process_is_not_known_to_have_changed(counts, once, times):
    """Allocations count since the process began: what is as much is of no operation."""
    own = [((f"example.com/a.F{i}",), n) for i, n in enumerate(counts)]
    set_up = ("main.load", "main.main"), once
    sides = (allocs([*((f, n * by) for f, n in own), set_up]) for by in (1, times))
    there = about(compared(*sides, sample_type="alloc_space"))
    assert there.normalization.mode == "about"
    table = there.table("functions")
    judged, row = table.judge("flat"), table.names.index("main.load")
    base, new = (int(side[row]) for side in table.raw("flat"))
    assert base == new
    assert judged.noise[row]
    assert marked(there) == []
