"""What arguments name, in several stores, and whose profiles they are."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

from pprofdiff.errors import UsageError
from pprofdiff.fleets.sides import FleetOptions, load_fleets
from pprofdiff.fleets.sources import source_of
from pprofdiff.inputs.places import of_fleet
from tests.fleets import making


@pytest.fixture(scope="module")
def fleet(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stores")
    return folder, making.write(folder / "build=1", range(4), count=2, samples=100)


def paths(*arguments):
    return [p for one in source_of(arguments, "base").objects for p in one.paths]


def test_all_ways_to_name_the_same_files(fleet, tmp_path, monkeypatch):
    folder, files = fleet
    expected = [str(file) for file in files]
    monkeypatch.chdir(folder)
    names = tmp_path / "names.txt"
    names.write_text("\n".join([*expected, "", expected[0], f"file://{expected[1]}"]))
    for argument in (
        str(folder),
        f"{folder}/",
        f"{folder}/**/*.pb.gz",
        f"file://{folder}/**/*.pb.gz",
        f"file://{folder}/build=1/host=h0000[0-3]/?.pb.gz",
        "build=1/**/*.pb.gz",
        f"@{names}",
    ):
        assert paths(argument) == expected, argument
    assert paths(expected[1], expected[0], f"{folder}/**/0.pb.gz") == sorted(
        {*expected[:2], *(n for n in expected if n.endswith("/0.pb.gz"))}
    )


def test_names_come_from_standard_input(fleet, monkeypatch):
    _, files = fleet

    class Standard:
        buffer = io.BytesIO("\n".join(map(str, files[:3])).encode())

    monkeypatch.setattr("sys.stdin", Standard)
    assert paths("@-") == [str(file) for file in files[:3]]
    with pytest.raises(UsageError, match="only once"):
        load_fleets(["@-"], ["@-"], FleetOptions())


def test_a_zip_is_a_store(fleet, tmp_path):
    folder, files = fleet
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as out:
        for file in files:
            out.write(file, file.relative_to(folder))
    named = [f"zip://build=1/**/*.pb.gz::{archive}"]
    loaded = load_fleets(named, [str(folder)], FleetOptions())
    base, new = loaded.base, loaded.new
    assert base.fleet.hosts == new.fleet.hosts
    for one, other in zip(base.captures, new.captures, strict=True):
        assert one.path == other.path
        np.testing.assert_array_equal(one.content.values, other.content.values)
        assert one.content.strings == other.content.strings


def test_labels_of_sides(fleet):
    folder, _ = fleet
    source = source_of((f"main={folder}/**/*.pb.gz",), "base")
    assert (source.label, source.place) == ("main", f"{folder}/**/*.pb.gz")
    assert len(source) == 8
    assert source_of((f"{folder}/build=1/**",), "base").label is None
    with pytest.raises(UsageError, match="two labels, a and b"):
        source_of((f"a={folder}", f"b={folder}"), "base")


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("s3://bucket/build=1/**", True),
        ("pr=gs://bucket/x", True),
        ("@names.txt", True),
        ("@-", True),
        ("base/**/*.pb.gz", True),
        ("http://host:6060/debug/pprof/profile?seconds=5", False),
        ("host:6060/debug/pprof/heap?gc=1", False),
        ("pr=https://host/x?y", False),
        ("cpu.pb.gz", False),
        ("-", False),
    ],
)
def test_what_goes_the_way_of_fleets(argument, expected):
    assert of_fleet(argument) is expected


def test_a_file_that_exists_is_itself_whatever_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a[1].pb.gz", "@x"):
        (tmp_path / name).write_bytes(b"")
        assert not of_fleet(name)
        assert paths(name) == [str(tmp_path / name)]


HOSTS = [f"h{n:05}" for n in range(4)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "by", [None, "host", r"host=(?P<host>[^/]+)", r"host=([^/]+)/"]
)
def test_a_path_shows_the_host(fleet, by):
    folder, _ = fleet
    loaded = load_fleets([str(folder)], [str(folder)], FleetOptions(by=by))
    assert loaded.base.fleet.names == HOSTS


def test_a_label_shows_the_host_and_one_profile_may_be_of_several(tmp_path):
    one, other = (next(making.profiles_of((9, n), samples=200)) for n in range(2))
    for number, (profile, hosts) in enumerate(((one, "a"), (other, "abc"))):
        labelled = making.labelled(profile, instance=[*hosts])
        making.put(tmp_path / f"{number}.pb.gz", labelled)
    how = FleetOptions(by="instance")
    base = load_fleets([str(tmp_path)], [str(tmp_path)], how).base
    assert base.fleet.names == ["a", "b", "c"]
    values = {c.path: c.content.values[:, 1].sum() for c in base.captures}
    assert values["a"] == one.values[:, 1].sum() + other.values[0::3, 1].sum()
    assert values["b"] == other.values[1::3, 1].sum()
    assert sum(values.values()) == sum(p.values[:, 1].sum() for p in (one, other))
    assert all(c.content.labels.sample.size == 0 for c in base.captures)
