"""Objects that are damaged, empty, foreign or gone: counted by reason, never hidden."""

from __future__ import annotations

import gzip
import os
import shutil
import socket
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pprofdiff.cli.main import main
from pprofdiff.errors import FetchError, FormatError, UsageError
from pprofdiff.fleets.engine import Progress, Where, reduced
from pprofdiff.fleets.partial import combine, read_part
from pprofdiff.fleets.sides import FleetOptions, load_fleets
from tests.conftest import DATA
from tests.fleets import making
from tests.memory import below

TRACE = DATA / "health-check/base/trace.out"


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound")
    making.write(folder / "base", range(12), count=2, samples=200)
    shutil.copytree(folder / "base", folder / "new")
    return folder


@pytest.fixture
def fleet(sound, tmp_path):
    """Return a folder with two sides of 24 profiles each, which a test may damage."""
    return shutil.copytree(sound, tmp_path, dirs_exist_ok=True)


def put(folder, name, data):
    place = folder / "host=x"
    place.mkdir(exist_ok=True)
    (place / name).write_bytes(data)


def damage(folder):
    whole = (folder / "host=h00000/0.pb.gz").read_bytes()
    put(folder, "cut.pb.gz", whole[: len(whole) // 2])
    put(folder, "broken.pb.gz", gzip.compress(gzip.decompress(whole)[:-40]))
    put(folder, "empty.pb.gz", b"")
    put(folder, "empty-inside.pb.gz", gzip.compress(b""))
    put(folder, "page.html", b"<html>no</html>")
    put(folder, "trace.out", TRACE.read_bytes())
    put(folder, "gone.pb.gz", b"")
    os.remove(folder / "host=x/gone.pb.gz")
    os.symlink(folder / "nowhere", folder / "host=x/gone.pb.gz")


@pytest.mark.slow
def test_each_reason_is_counted(fleet):
    damage(fleet / "new")
    how = FleetOptions(max_skipped=0.5)
    loaded = load_fleets([f"{fleet}/base"], [f"{fleet}/new"], how)
    assert loaded.base.fleet.skipped == {}
    reasons = dict(loaded.new.fleet.skipped)
    vanished = reasons.pop("vanished", 0)
    assert reasons == {
        "damaged": 2, "empty": 2, "not a profile": 1, "not a profile but a trace": 1,
    }  # fmt: skip
    # A broken link is listed by some versions of fsspec.
    (note,) = loaded.notes
    assert note.startswith(f"new: {6 + vanished} of {30 + vanished} objects left out: ")
    assert "2 damaged, 2 empty" in note
    assert "host=x/" in note
    assert loaded.new.fleet.names == [f"h{n:05}" for n in range(12)]


@pytest.mark.slow
def test_what_is_listed_and_then_gone_has_vanished(fleet):
    objects = making.objects_in(fleet / "base")
    os.remove(objects.paths[3])
    part = read_part(making.task(objects.store, objects.paths))
    assert part.skipped == {"vanished": 1}
    assert part.first == {"vanished": objects.paths[3]}
    assert sum(sums.profiles for sums in part.hosts.values()) == 23


@pytest.mark.slow
def test_what_a_store_says_is_not_repeated(fleet):
    class Store:
        async_impl = True
        protocol = ("s3",)

        def cat_ranges(self, paths, starts, ends, on_error):
            return [
                PermissionError("key=SECRET"), TimeoutError("SECRET"),
                ValueError("https://signed?SECRET"),
            ]  # fmt: skip

    part = read_part(making.task(Store(), "abc"))
    assert part.skipped == {"not permitted": 1, "timed out": 1, "unreadable": 1}
    assert "SECRET" not in repr(part)


def test_too_large_inside_is_left_out(fleet):
    how = FleetOptions(max_size=2000)
    with pytest.raises(FormatError, match=r"24 of 24 objects left out: 24 too large"):
        load_fleets([f"{fleet}/base"], [f"{fleet}/new"], how)


@pytest.mark.slow
def test_an_entry_of_an_archive_inflates_to_the_largest_size_at_most(fleet, tmp_path):
    good = next((fleet / "base").rglob("*.gz")).read_bytes()
    path = tmp_path / "fleet.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("host=a/x.pb.gz", good)
        for name in "bc":
            archive.writestr(f"host={name}/x.pb.gz", bytes(200 << 20))
    objects = making.objects_in(f"zip://**/*.gz::{path}")
    task = making.task(objects.store, objects.paths, 1 << 20)
    with below(50 << 20):
        part = read_part(task)
    assert part.skipped == {"too large": 2}
    assert {host for host, _ in part.hosts} == {"a"}


class Endless(BaseHTTPRequestHandler):
    """Serves two files, one without end, and knows no ranges."""

    def do_GET(self):  # noqa: D102 - named so by http.server
        self.send_response(200)
        self.end_headers()
        try:
            self.wfile.write(self.server.good if "good" in self.path else b"")
            while "endless" in self.path:
                self.server.sent += self.wfile.write(bytes(1 << 20))
        except OSError:
            self.server.left.set()

    def log_message(self, *_):
        """Say nothing."""


@pytest.mark.slow
def test_a_server_without_ranges_is_read_no_further_than_the_largest_size(fleet):
    pytest.importorskip("aiohttp")
    from fsspec import filesystem

    with ThreadingHTTPServer(("127.0.0.1", 0), Endless) as server:
        server.good = next((fleet / "base").rglob("*.gz")).read_bytes()
        server.sent, server.left = 0, threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        paths = [f"{address}/host={n}" for n in ("endless", "good", "none")]
        part = read_part(making.task(filesystem("http"), paths, 1 << 20))
        # Who is no longer read gives up: else this would wait for ever.
        server.left.wait()
        server.shutdown()
    assert part.skipped == {"too large": 1, "empty": 1}
    assert {host for host, _ in part.hosts} == {"good"}


@pytest.mark.slow
def test_more_than_may_be_skipped_is_an_error_in_one_line(fleet, capsys):
    put(fleet / "new", "cut.pb.gz", b"\x1f\x8b\x08\0\0")
    words = [f"{fleet}/base/**/*.gz", f"{fleet}/new/**/*.gz"]
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        f"pprofdiff: new: 1 of 25 objects left out: 1 damaged "
        f"(such as {fleet}/new/host=x/cut.pb.gz): more than --max-skipped 1%\n"
    )
    assert main([*words, "--max-skipped=4%"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    got = " ".join(out.split())
    assert "24 profiles of 12 hosts" in got
    assert "! new: 1 of 25 objects left out: 1 damaged" in got


@pytest.mark.slow
def test_nothing_but_others_is_an_error(fleet, capsys):
    (fleet / "traces/host=a").mkdir(parents=True)
    (fleet / "traces/host=a/trace.out").write_bytes(TRACE.read_bytes())
    assert main([f"{fleet}/traces/**", f"{fleet}/new/**", "--max-skipped=99%"]) == 2
    assert capsys.readouterr().err == (
        "pprofdiff: base: 1 of 1 objects left out: 1 not a profile but a trace "
        f"(such as {fleet}/traces/host=a/trace.out); fleets consist of pprof profiles\n"
    )


def test_a_pattern_that_nothing_matches_is_an_error(fleet, capsys):
    assert main([f"{fleet}/bass/**/*.gz", f"{fleet}/new/**/*.gz"]) == 2
    assert capsys.readouterr().err == (
        f"pprofdiff: {fleet}/bass/**/*.gz: no object of base has such a name\n"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nosuch://x/*"], "Protocol not known"),
        (["@{}/none.txt"], "no such file"),
        (["{}/new/**", "--rps=1:2"], "--rps is for one process"),
        (["{}/new/**", "--state=running"], "--state needs traces"),
        (
            ["{}/new/**", "--by=(?P<host"],
            "--by: '(?P<host' is not a Go regular expression",
        ),
        (["{}/new/**", "--by=host=.*"], "a pattern needs a group"),
        pytest.param(
            ["{}/new/**", "--scheduler=tcp://127.0.0.1:9"],
            "no Dask scheduler answers",
            marks=pytest.mark.slow,
        ),
        (["{}/new/**", "--every=5m"], "it goes with --over time"),
        (["@"], "@ names no list"),
    ],
)
def test_what_cannot_be_is_one_line(fleet, capsys, monkeypatch, words, said):
    monkeypatch.setattr("pprofdiff.fleets.engine._PATIENCE", 1)
    words = [word.replace("{}", str(fleet)) for word in words]
    assert main([f"{fleet}/base/**", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.slow
def test_what_takes_a_connection_and_says_nothing_is_no_scheduler(
    fleet, capsys, monkeypatch
):
    pytest.importorskip("distributed")
    monkeypatch.setattr("pprofdiff.fleets.engine._PATIENCE", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        words = [f"{fleet}/base/**", f"{fleet}/new/**", "--scheduler", address]
        assert main(words) == 2
    assert capsys.readouterr() == (
        "", f"pprofdiff: {address}: no Dask scheduler answers there (TimeoutError)\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("view", "shown"),
    [
        ("-top", "Showing nodes"),
        pytest.param("--explain=gc", "what it consists of", marks=pytest.mark.slow),
        pytest.param("--list=Write", "flat", marks=pytest.mark.slow),
    ],
)
def test_other_views_say_what_was_left_out(fleet, capsys, view, shown):
    (fleet / "new/host=h00003/empty.pb.gz").write_bytes(b"")
    words = [f"{fleet}/base/**", f"{fleet}/new/**", "--max-skipped=9%"]
    assert main([view, *words]) == 0
    out, err = capsys.readouterr()
    assert shown in out
    assert "pprofdiff: new: 1 of 25 objects left out: 1 empty (such as " in err


@pytest.mark.slow
def test_without_a_host_nothing_is_guessed(fleet):
    loose = fleet / "loose"
    loose.mkdir()
    for number, file in enumerate(sorted((fleet / "base").rglob("*.gz"))):
        (loose / f"{number}.pb.gz").write_bytes(file.read_bytes())
    with pytest.raises(UsageError, match="which host is it from"):
        load_fleets([str(loose)], [f"{fleet}/new"], FleetOptions())
    with pytest.raises(FormatError, match=r"24 without a host .*; --by is a label"):
        load_fleets([str(loose)], [f"{fleet}/new"], FleetOptions(by="host"))


def test_a_login_is_not_shown(fleet, capsys):
    assert main(["nosuch://me:SECRET@host/**", f"{fleet}/new/**"]) == 2
    assert "SECRET" not in capsys.readouterr().err


def test_a_list_that_is_empty_names_nothing(fleet):
    (fleet / "names.txt").write_text("\n\n")
    with pytest.raises(FetchError, match="no object of base"):
        load_fleets([f"@{fleet}/names.txt"], [f"{fleet}/new"], FleetOptions())


@pytest.mark.slow
def test_progress_says_how_much_is_read(fleet):
    objects = making.objects_in(fleet / "base")
    tasks = [
        making.task(objects.store, paths)
        for paths in (objects.paths[:10], objects.paths[10:])
    ]
    said = []
    reduced([tasks], read_part, combine, Where(progress=said.append))
    assert said == [f"reading: {n} of 24 objects" for n in (0, 10, 24)]


def test_progress_says_how_long_it_may_take_once_that_is_known(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("pprofdiff.fleets.engine.monotonic", lambda: now[0])
    said = []
    progress = Progress({0: 50, 1: 50, 2: 4900}, said.append)
    now[0] += 2
    progress.ended(0)
    now[0] += 8
    progress.ended(1)
    # A task that is done again, as its worker died, is not counted twice.
    progress.ended(1)
    now[0] += 500
    progress.ended(2)
    assert said == [
        "reading: 0 of 5,000 objects",
        "reading: 50 of 5,000 objects",
        "reading: 100 of 5,000 objects, about 8 min left",
        "reading: 5,000 of 5,000 objects",
    ]
