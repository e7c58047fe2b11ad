"""Real profiles, step by step: sums are exact, whoever reads them, in whatever parts."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from itertools import pairwise

import pytest
from msgspec.structs import replace

from pprofdiff.analysis.profiles.single import profile_sums
from pprofdiff.errors import FormatError, UsageError
from pprofdiff.fleets.over import load_series, series_tasks
from pprofdiff.fleets.sides import FleetOptions
from pprofdiff.fleets.steps import MOST_WINDOWS, WIDTHS, in_order, step_rule, width_for
from pprofdiff.fleets.tallies import combine_tallies, read_tally
from pprofdiff.model.profiles.merge import merge
from tests.conftest import DATA
from tests.examples import daily
from tests.fleets import making

HERE = FleetOptions(workers=0)


@pytest.fixture(scope="module")
def builds(tmp_path_factory):
    """Five builds on eight hosts, and what is no profile."""
    folder = tmp_path_factory.mktemp("builds")
    for build in (7, 8, 9, 10, 11):
        making.write(
            folder / f"build={build}", range(8), samples=500, again=build, count=2
        )
    allocs = (DATA / "unchanged/run1/allocs.pb.gz").read_bytes()
    for build in (9, 10):
        (folder / f"build={build}/host=h00003/allocs.pb.gz").write_bytes(allocs)
    return folder


@pytest.fixture(scope="module")
def minutes(tmp_path_factory):
    """Four hundred minutes of six hosts, a profile every forty."""
    folder = tmp_path_factory.mktemp("minutes")
    for time in range(0, 400, 40):
        making.write(
            folder / f"{time}", range(6), samples=300, again=time, start_s=60 * time
        )
    return folder


def named(names, values):
    """Return the sum of each name."""
    got = Counter()
    for name, value in zip(names, values.tolist(), strict=True):
        got[name] += value
    return got


def sums(series):
    """Return what a series holds, by names."""
    return [
        (
            kind.kind,
            dict(zip(kind.units, kind.totals.tolist(), strict=True)),
            dict(zip(kind.functions, kind.by_step(kind.flat).tolist(), strict=True)),
            dict(zip(kind.functions, kind.by_step(kind.cum).tolist(), strict=True)),
            None if kind.categories is None else kind.categories.sum(axis=1).tolist(),
        )
        for kind in series.kinds
    ]


@pytest.mark.whole
@pytest.mark.slow
def test_each_build_is_what_its_profiles_merged_are(builds):
    series, notes = load_series([str(builds)], "build", HERE)
    assert notes == ()
    assert [step.name for step in series.steps] == ["7", "8", "9", "10", "11"]
    assert [(step.hosts, step.profiles) for step in series.steps][1:4] == [
        (8, 16), (8, 17), (8, 17),
    ]  # fmt: skip
    cpu, allocs = series.kinds
    for place, step in enumerate(series.steps):
        files = sorted((builds / f"build={step.name}").rglob("?.pb.gz"))
        merged = profile_sums(merge([making.read(file) for file in files]))
        for expected, own in ((merged.flat, cpu.flat), (merged.cum, cpu.cum)):
            assert named(merged.names, expected) == named(
                cpu.functions, cpu.by_step(own)[:, place]
            )
        ours = cpu.categories[:, :, place].sum(axis=1)
        assert ours.tolist() == merged.categories.tolist()
    # Two builds have allocations: nothing was measured at the others.
    assert (allocs.totals.sum(axis=0) > 0).tolist() == [False, False, True, True, False]


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize("over", daily(("build", "time"), ["time"]))
def test_parts_of_any_size_in_any_order_come_to_the_same(builds, minutes, over):
    place = str(builds if over == "build" else minutes)
    whole, _ = load_series([place], over, HERE)
    listed = series_tasks([place], step_rule(over, None), HERE)
    task, paths = listed.tasks[0], list(listed.source.objects[0].paths)
    for seed in range(3):
        random.Random(seed).shuffle(paths)
        cuts = sorted(random.Random(seed).sample(range(1, len(paths)), 6))
        parts = [
            read_tally(
                task._replace(
                    objects=dataclasses.replace(task.objects, paths=tuple(paths[a:b]))
                )
            )
            for a, b in zip([0, *cuts], [*cuts, len(paths)], strict=True)
        ]
        some = combine_tallies([combine_tallies(parts[:3]), *parts[3:]])
        assert some.width_s == whole.width_s
        assert some.sums.totals.sum() == sum(kind.totals.sum() for kind in whole.kinds)
        by_name = Counter()
        many = len(some.sums.names)
        for entry, flat in zip(
            some.sums.entries.tolist(), some.sums.flat.tolist(), strict=True
        ):
            key = some.sums.cells[entry // many].kind, some.sums.names[entry % many]
            by_name[key] += flat
        expected = Counter()
        for kind in whole.kinds:
            flat = kind.by_step(kind.flat).sum(axis=1)
            for name, value in named(kind.functions, flat).items():
                expected[kind.kind, name] = value
        assert by_name == expected


# Sockets and loops of workers are closed by threads that end after the test.
@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.filterwarnings(
    "default::ResourceWarning", "default::pytest.PytestUnraisableExceptionWarning"
)
def test_workers_of_their_own_come_to_the_same(builds):
    pytest.importorskip("distributed")
    here, _ = load_series([str(builds)], "build", HERE)
    there, _ = load_series([str(builds)], "build", FleetOptions(workers=2))
    assert sums(there) == sums(here)


@pytest.mark.whole
@pytest.mark.slow
def test_windows_are_as_wide_as_they_have_to_be(minutes):
    series, _ = load_series([str(minutes)], "time", HERE)
    # 361 minutes: of 5 minutes each they would be 73.
    assert series.width_s == 900
    assert len(series.steps) <= MOST_WINDOWS
    assert sum(step.profiles for step in series.steps) == 60
    assert {step.hosts for step in series.steps} == {0, 6}
    wide, _ = load_series([str(minutes)], "time", HERE, every=3600)
    assert wide.width_s == 3600
    assert sums(wide)[0][1].keys() == sums(series)[0][1].keys()
    assert wide.kinds[0].totals.sum() == series.kinds[0].totals.sum()
    starts = [step.start_ns // 10**9 for step in wide.steps]
    assert [start % 3600 for start in starts] == [0] * len(starts)
    assert wide.steps[0].name == "22:00" or "-" in wide.steps[0].name


@pytest.mark.parametrize("seed", range(20))
def test_a_part_never_needs_wider_windows_than_all(seed):
    rng = random.Random(seed)
    times = [rng.randrange(10 ** rng.randrange(1, 9)) for _ in range(30)]
    whole = width_for(times, 1)
    some = width_for(times[:7], 1)
    assert some <= whole
    assert width_for([time // some * some for time in times], some) == whole
    assert all(wide % narrow == 0 for narrow, wide in pairwise(WIDTHS))


@pytest.mark.slow
def test_builds_are_in_the_order_of_arguments_then_of_numbers(builds):
    places = [f"{builds}/build=9/**/*.gz", f"{builds}/**/*.gz"]
    series, _ = load_series(places, "build", HERE)
    assert [step.name for step in series.steps] == ["9", "7", "8", "10", "11"]
    # What two arguments name is read once.
    assert series.profiles == 82
    assert in_order(["1.10", "1.9", "v2", "1.9-rc1"], {}) == [
        "1.9",
        "1.9-rc1",
        "1.10",
        "v2",
    ]


def test_labels_show_builds_and_hosts(tmp_path):
    for number, (host, build) in enumerate(
        [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    ):
        profile = next(making.profiles_of((5, number), samples=200))
        labelled = making.labelled(profile, pod_name=[host], release=[build])
        making.put(tmp_path / f"{number}.pb.gz", labelled)
    series, _ = load_series(
        [str(tmp_path)], "release", FleetOptions(by="pod_name", workers=0)
    )
    assert [step.name for step in series.steps] == ["x", "y"]
    assert series.kinds[0].units == ("a", "b")
    assert [step.hosts for step in series.steps] == [2, 2]


@pytest.mark.whole
@pytest.mark.slow
def test_more_than_64_hosts_are_groups(tmp_path):
    for build in (1, 2):
        making.write(tmp_path / f"build={build}", range(70), samples=30, again=build)
    series, _ = load_series([str(tmp_path)], "build", HERE)
    assert series.hosts == 70
    assert [step.hosts for step in series.steps] == [70, 70]
    units = series.kinds[0].units
    assert len(units) < 64
    assert all(unit.startswith("group ") for unit in units)
    # A group is one at every step: it is compared with itself.
    assert (series.kinds[0].totals > 0).all()


@pytest.mark.slow
def test_what_shows_no_step_is_left_out_and_named(builds, tmp_path):
    file = next(builds.rglob("0.pb.gz"))
    profile = replace(making.read(file), time_ns=None)
    for number in range(3):
        making.write(
            tmp_path, [number], samples=50, again=number, start_s=9000 * number
        )
    place = tmp_path / "host=h00001"
    making.put(place / "timeless.pb.gz", profile)
    (place / "damaged.pb.gz").write_bytes(file.read_bytes()[:900])
    with pytest.raises(FormatError, match="more than --max-skipped 1%"):
        load_series([str(tmp_path)], "time", HERE)
    series, (note,) = load_series(
        [str(tmp_path)], "time", FleetOptions(max_skipped=0.5)
    )
    assert series.profiles == 3
    assert note.startswith("time: 2 of 5 objects left out: 1 damaged, 1 without a time")


@pytest.mark.parametrize(
    ("over", "every", "says"),
    [
        ("(", None, r"--over: '\('"),
        ("build", 60, "--every is the width of windows"),
        ("time", 0.5, "a whole number of seconds"),
    ],
)
def test_what_is_no_step_is_one_line(builds, over, every, says):
    with pytest.raises(UsageError, match=says):
        load_series([str(builds)], over, HERE, every=every)


@pytest.mark.slow
def test_too_many_steps_and_one_are_one_line(builds, minutes):
    with pytest.raises(FormatError, match=r"there are 21,\d{3} steps, and 400"):
        load_series([str(minutes)], "time", HERE, every=1)
    with pytest.raises(FormatError, match="all profiles are of build 9"):
        load_series([f"{builds}/build=9"], "build", HERE)
