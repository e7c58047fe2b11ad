"""Fleets in a real S3 server: the same sums, and failures in one line."""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack

import fsspec
import pytest

from pprofdiff.cli.main import main
from pprofdiff.errors import FetchError
from pprofdiff.fleets.over import load_series
from pprofdiff.fleets.partial import read_part
from pprofdiff.fleets.sides import FleetOptions, load_fleets
from tests.examples import daily
from tests.fleets import faulty as faults
from tests.fleets import making, s3
from tests.fleets.test_cluster import summary
from tests.fleets.test_over import sums
from tests.fleets.test_sums import table
from tests.memory import below

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings(
        # The library's sessions are closed when its loop ends.
        "default::ResourceWarning",
        "default::pytest.PytestUnraisableExceptionWarning",
    ),
]


@pytest.fixture(scope="module")
def store(request, tmp_path_factory):
    """Return (address, folder that its bucket `fleet` is)."""
    pytest.importorskip("s3fs")
    binary = s3.program(build=request.config.getoption("--whole"))
    root = tmp_path_factory.mktemp("s3")
    making.write(root / "fleet/build=1", range(12), count=3, samples=200)
    making.write(root / "fleet/build=2", range(12, 24), count=3, samples=200)
    with s3.served(binary, root) as address:
        yield address, root / "fleet"


@pytest.fixture
def bucket(store, monkeypatch):
    address, folder = store
    for name, value in s3.settings(address).items():
        monkeypatch.setenv(name, value)
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    return folder


@pytest.mark.whole
def test_sums_match_the_files(bucket):
    words = ["s3://fleet/build=1/**/*.pb.gz"]
    loaded = load_fleets(words, [str(bucket / "build=1")], FleetOptions())
    base, new = loaded.base, loaded.new
    assert base.fleet.hosts == new.fleet.hosts
    assert [c.path for c in base.captures] == [f"h{n:05}" for n in range(12)]
    for one, other in zip(base.captures, new.captures, strict=True):
        assert table(one.content) == table(other.content)


@pytest.mark.parametrize("workers", daily((0, 2), (2,)))
def test_the_command_reads_it(bucket, capsys, monkeypatch, workers):
    monkeypatch.setattr("pprofdiff.fleets.engine.HERE", 200 if workers == 0 else 0)
    assert main([f"s3://fleet/build={n}/**/*.pb.gz" for n in (1, 2)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "base  cpu 36 profiles of 12 hosts, " in out
    assert "s3://fleet/build=1/**/*.pb.gz" in out
    assert s3.SECRET not in out


def test_objects_are_read_no_further_than_the_largest_size(bucket, store):
    host = bucket / "build=1/host=large"
    host.mkdir()
    (host / "none.pb.gz").write_bytes(b"")
    with (host / "large.pb.gz").open("wb") as file:
        file.truncate(100 << 20)
    try:
        objects = making.objects_in("s3://fleet/build=1/host=large/*")
        task = making.task(objects.store, objects.paths, 1 << 20)
        with below(20 << 20):
            part = read_part(task)
    finally:
        shutil.rmtree(host)
    assert part.skipped == {"too large": 1, "empty": 1}


@pytest.mark.whole
def test_builds_in_it_match_the_files(bucket):
    from_store, _ = load_series(["s3://fleet/**/*.pb.gz"], "build", FleetOptions())
    from_files, _ = load_series([str(bucket)], "build", FleetOptions())
    assert [step.name for step in from_store.steps] == ["1", "2"]
    assert sums(from_store) == sums(from_files)


def test_what_vanishes_between_listing_and_reading(bucket):
    objects = making.objects_in("s3://fleet/build=1/host=h00000/*")
    task = making.task(objects.store, objects.paths)
    before = summary(read_part(task))
    assert before[2] == {}
    os.rename(bucket / "build=1/host=h00000/1.pb.gz", bucket / "kept")
    try:
        part = read_part(task)
    finally:
        os.rename(bucket / "kept", bucket / "build=1/host=h00000/1.pb.gz")
    assert part.skipped == {"vanished": 1}
    assert part.first == {"vanished": "fleet/build=1/host=h00000/1.pb.gz"}


def test_a_wrong_secret_is_one_line_without_it(bucket, capsys, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "WRONGSECRET")
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    assert main(["s3://fleet/build=1/**", "s3://fleet/build=2/**"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("pprofdiff: s3://fleet/build=1/**: ")
    assert err.count("\n") == 1
    assert "WRONG" not in err


def test_a_bucket_that_is_not_there(bucket):
    with pytest.raises(FetchError, match="s3://nobucket"):
        load_fleets(["s3://nobucket/**"], ["s3://fleet/build=2/**"], FleetOptions())


@pytest.fixture
def faulty(store, monkeypatch):
    """Return what has the store asked through a relay that fails as it is asked to."""
    address, _ = store
    with ExitStack() as stack:

        def through(attempts=2, **how):
            relayed, relay = stack.enter_context(faults.relayed(address, **how))
            for name, value in s3.settings(relayed).items():
                monkeypatch.setenv(name, value)
            # Else the waits between attempts take a minute: both libraries try again.
            monkeypatch.setenv("AWS_MAX_ATTEMPTS", str(attempts))
            monkeypatch.setattr("s3fs.S3FileSystem.retries", attempts)
            fsspec.get_filesystem_class("s3").clear_instance_cache()
            return relay

        yield through


@pytest.mark.whole  # it waits as the store asks for
def test_a_store_that_throttles_now_and_then_is_asked_again(faulty):
    relay = faulty(fails=lambda path, times: ".pb.gz" in path and times == 1)
    loaded = load_fleets(
        ["s3://fleet/build=1/**/*.gz"], ["s3://fleet/build=2/**/*.gz"], FleetOptions()
    )
    objects = [path for path in relay.asked if ".pb.gz" in path]
    assert len(objects) == 72
    assert min(relay.asked[path] for path in objects) == 2
    for one in (loaded.base, loaded.new):
        assert one.fleet.skipped == {}
        assert sum(s.profiles for s in one.fleet.hosts.values()) == 36


@pytest.mark.whole
def test_an_object_that_is_always_throttled_is_named(faulty, capsys):
    faulty(fails=lambda path, _: "h00003/1.pb.gz" in path)
    words = ["s3://fleet/build=1/**/*.gz", "s3://fleet/build=2/**/*.gz"]
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "pprofdiff: base: 1 of 36 objects left out: 1 throttled (such as "
        "fleet/build=1/host=h00003/1.pb.gz): more than --max-skipped 1%\n"
    )
    assert main([*words, "--max-skipped=5%"]) == 0
    out, err = capsys.readouterr()
    assert "35 profiles of 12 hosts" in out
    assert "1 of 36 objects left out: 1 throttled" in " ".join(out.split())
    assert "SECRET" not in out


@pytest.mark.whole  # it waits for the time-out
@pytest.mark.slow
def test_an_object_that_does_not_come_has_timed_out(faulty, monkeypatch):
    # Long enough for all that do come, on a busy machine too.
    wait = {"config_kwargs": {"read_timeout": 4.0}}
    monkeypatch.setitem(fsspec.config.conf, "s3", wait)
    faulty(1, fails=lambda path, _: "h00003/1.pb.gz" in path, hang=60.0)
    words = ["s3://fleet/build=1/**/*.gz"], ["s3://fleet/build=2/**/*.gz"]
    loaded = load_fleets(*words, FleetOptions(max_skipped=0.05))
    assert loaded.base.fleet.skipped == {"timed out": 1}
    assert loaded.new.fleet.skipped == {}


def test_a_store_that_only_throttles_is_one_line(faulty, capsys):
    faulty(fails=lambda *_: True)
    assert main(["s3://fleet/build=1/**", "s3://fleet/build=2/**"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("pprofdiff: s3://fleet/build=1/**: ")
    assert err.count("\n") == 1
