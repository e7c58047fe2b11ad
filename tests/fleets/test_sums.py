"""What workers add up is what merging all files at once gives, to the last integer."""

from __future__ import annotations

import random

import numpy as np
import pytest
from msgspec.structs import replace

from pprofdiff.fleets import sides
from pprofdiff.fleets.engine import tree
from pprofdiff.fleets.hosts import GROUPS, group_of
from pprofdiff.fleets.partial import combine, read_part
from pprofdiff.fleets.sides import FleetOptions, load_fleets
from pprofdiff.model.profiles.merge import merge
from pprofdiff.model.profiles.profile import Labels, stack_names
from tests.examples import daily
from tests.fleets import making


def table(profile):
    """Return the profile's values by stack and labels: what it says, in no order."""
    profile = profile.take(np.flatnonzero(profile.values.any(axis=1)))
    frame = profile.to_frame()
    names = [t.type for t in profile.sample_types]
    kept = [c for c in frame.columns if c not in names]
    return frame.groupby(kept, dropna=False)[names].sum().sort_index().to_dict("index")


def tables(part):
    """Return the tables of a part's hosts, which are of one kind."""
    (one,) = part.profiles.values()
    return {unit: table(profile) for unit, profile in one.profiles().items()}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    """Twelve hosts of three profiles each, and their files."""
    folder = tmp_path_factory.mktemp("fleet")
    return folder, making.write(folder / "build=1", range(12), count=3, samples=300)


def direct(files, *, labels=False):
    """Return the sum of files as `merge` makes it of all at once."""
    profiles = [making.read(file) for file in files]
    if not labels:
        profiles = [replace(profile, labels=Labels.none()) for profile in profiles]
    return merge(profiles)


def whole(side):
    return merge([capture.content for capture in side.of("profile")])


@pytest.mark.slow
@pytest.mark.parametrize("at_once", daily((1, 2, 7, 50), (1, 7)))
def test_sums_match_all_files_at_once(fleet, monkeypatch, at_once):
    folder, files = fleet
    monkeypatch.setattr(sides, "_AT_ONCE", at_once)
    loaded = load_fleets([f"{folder}/**/*.pb.gz"], [str(folder)], FleetOptions())
    expected = direct(files)
    for side in (loaded.base, loaded.new):
        assert table(whole(side)) == table(expected)
        assert [c.path for c in side.captures] == [f"h{n:05}" for n in range(12)]
        assert [c.run for c in side.captures] == list(range(12))
    assert sum(c.content.duration_ns for c in loaded.base.captures) == 360_000_000_000
    assert loaded.base.captures[0].content.time_ns == expected.time_ns


@pytest.mark.whole
@pytest.mark.slow
def test_labels_stay_where_patterns_ask_for_them(fleet):
    folder, files = fleet
    how = FleetOptions(labels=True)
    loaded = load_fleets([str(folder)], [str(folder)], how)
    assert table(whole(loaded.base)) == table(direct(files, labels=True))


@pytest.mark.whole
@pytest.mark.slow
def test_each_host_is_the_sum_of_its_own_files(fleet):
    folder, files = fleet
    loaded = load_fleets([str(folder)], [str(folder)], FleetOptions())
    for number, capture in enumerate(loaded.base.captures):
        own = direct(files[3 * number : 3 * number + 3])
        assert table(capture.content) == table(own)
        sums = loaded.base.fleet.hosts[f"h{number:05}", "cpu"]
        assert sums == (3, 30_000_000_000, int(own.values[:, 1].sum()))


@pytest.mark.whole
@pytest.mark.slow
def test_the_order_and_the_cuts_of_parts_change_nothing(fleet):
    folder, _ = fleet
    objects = making.objects_in(folder)
    paths = list(objects.paths)
    got = []
    for seed in range(4):
        rng = random.Random(seed)
        rng.shuffle(paths)
        cuts = sorted(rng.sample(range(1, len(paths)), 5 + seed))
        pieces = [paths[a:b] for a, b in zip([0, *cuts], [*cuts, None], strict=True)]
        tasks = [making.task(objects.store, piece) for piece in pieces]
        part = tree(tasks, read_part, combine)
        got.append((tables(part), dict(part.hosts)))
    assert all(one == got[0] for one in got[1:])
    assert len(got[0][0]) == 12


@pytest.mark.whole
@pytest.mark.slow
def test_more_hosts_than_groups_are_gathered_alike_in_every_part(tmp_path):
    files = making.write(tmp_path, range(GROUPS + 30), samples=60)
    loaded = load_fleets([str(tmp_path)], [str(tmp_path)], FleetOptions())
    expected = {}
    for file in files:
        expected.setdefault(group_of(file.parent.name[5:]), []).append(file)
    runs = {c.path: c.content for c in loaded.base.captures}
    assert 40 < len(expected) <= GROUPS
    assert runs.keys() == expected.keys()
    for group, own in expected.items():
        assert table(runs[group]) == table(direct(own))
    assert len(loaded.base.fleet.names) == GROUPS + 30


@pytest.mark.whole
@pytest.mark.slow
def test_joining_groups_to_hosts_not_yet_gathered_is_the_same(tmp_path):
    making.write(tmp_path, range(GROUPS + 10), samples=40)
    objects = making.objects_in(tmp_path)
    parts = [
        read_part(making.task(objects.store, paths))
        for paths in (objects.paths[:5], objects.paths[5:])
    ]
    late = combine([combine([parts[1]]), parts[0]])
    early = combine(parts)
    assert late.grouped
    assert early.grouped
    assert tables(late) == tables(early)


def test_a_group_does_not_depend_on_the_process():
    # Python's own hash of text does.
    assert [group_of(name) for name in ("a", "web-1", "ü")] == [
        "group 47", "group 39", "group 55",
    ]  # fmt: skip


@pytest.mark.slow
def test_no_string_stays_that_nothing_uses(fleet):
    folder, _ = fleet
    loaded = load_fleets([str(folder)], [str(folder)], FleetOptions())
    profile = loaded.base.captures[0].content
    used = {0, *profile.functions.name, *profile.functions.filename}
    used |= {*profile.functions.system_name}
    assert len(profile.strings) == len(used)
    assert stack_names(profile)[0]


def test_tree_reads_every_task_once_and_in_order():
    for size in (1, 2, 8, 9, 64, 65, 200):
        read = []
        joined = tree(
            range(size),
            lambda task, read=read: read.append(task) or [task],
            lambda parts: [t for p in parts for t in p],
        )
        assert joined == read == list(range(size))


def test_values_beyond_what_a_float_holds_stay_exact(tmp_path):
    large = (1 << 53) + 1
    profile = next(making.profiles_of((1, 1), samples=50))
    profile = profile.with_values(np.full_like(profile.values, large))
    place = tmp_path / "host=a"
    place.mkdir()
    for number in range(3):
        making.put(place / f"{number}.pb.gz", profile)
    loaded = load_fleets([str(tmp_path)], [str(tmp_path)], FleetOptions())
    total = loaded.base.captures[0].content.values.sum(axis=0).tolist()
    assert total == [3 * large * len(profile)] * 2
