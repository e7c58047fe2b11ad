"""User names and passwords in URLs: no spelling of one is shown anywhere."""

from __future__ import annotations

import json
import traceback
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pprofdiff
from pprofdiff.errors import PprofDiffError
from pprofdiff.inputs import ReadOptions, read
from pprofdiff.inputs.fetch import request_for
from pprofdiff.inputs.places import locate, without_login

# Parts of passwords and user names; the first two may be a port's number.
SECRETS = ("48151", "62342", "SEKRET", "HIDDEN", "T0KEN")
# With `host` for what is behind the user's name.
SPELLINGS = [
    "http://me:SEKRET@{host}",
    "HTTP://me:SEKRET@{host}",
    "hTTps://me:SEKRET@nothing.invalid",
    "http://T0KEN@{host}",
    "http://:SEKRET@{host}",
    "http://me:SEK%52ET@{host}",
    "http://me:SEKRET%2FHIDDEN@{host}",
    "http://me:SEKRET%40{host}",
    "http://me%3ASEKRET%40{host}",
    "http://me%3ASEKRET@{host}",
    *(f"http://me:{a}{mark}{b}@{{host}}" for mark in "/?#@:\\;=&% +'\"<>[]{}|^`\t" for a, b in (("SEKRET", "HIDDEN"), ("48151", "62342"))),
    "http://me:SEKRET/@{host}",
    "http://me:/SEKRET@{host}",
    "http://me:48151/62342/HIDDEN@{host}",
    "http://me:48151/x?y=SEKRET@{host}",
    "http://T0KEN/HIDDEN@{host}",
    "http://me:SEKRET@nothing.invalid:99999/x",
    "http://me:SEKRET@nothing.invalid:-1/x",
    "http://me:SEKRET@nothing.invalid:abc/x",
    "http://me:SEKRET@[::1/x",
    "http://me:SEKRET@::1]/x",
    "http://me:SEKRET@[zz]/x",
    "http://me:SEKRET@[::1]x/y",
    "http://[me:SEKRET]@{host}",
    "http://me:[SEKRET@{host}",
    "http://me:SEKRET@℀.invalid/x",
    "http://me:SEKRET℀@nothing.invalid/x",
    "http://me:SEKRET\udcff@{host}",
    "http://me:SEKRET@nothing\udcff.invalid",
    "http://me:SEKRET@",
    "http://me:SEKRET@/x",
    "http://me:SEKRET",
    "http://SEKRET:HIDDEN/x",
    "http:/me:SEKRET@{host}",
    "http:me:SEKRET@{host}",
    "http//me:SEKRET@{host}",
    "http:\\\\me:SEKRET@{host}",
    "htp://me:SEKRET@{host}",
    "ftp://me:SEKRET@{host}",
    "://me:SEKRET@{host}",
    "//me:SEKRET@{host}",
    "me:SEKRET@{host}",
    "me:48151/62342@{host}",
    "me:SEKRET/HIDDEN@{host}/a/b",
    "T0KEN@{host}",
    " http://me:SEKRET@{host}",
    "http://me:SEKRET @{host}",
    "main=http://me:SEKRET/HIDDEN@{host}",
    "main=me:SEKRET/HIDDEN@{host}",
    "m:n=http://me:SEKRET@{host}",
]  # fmt: skip


def leaks(text):
    return [secret for secret in SECRETS if secret in str(text)]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_nothing_that_is_said_has_a_part_of_it(cli, spelling, data_folder, tmp_path):
    profile = data_folder / "syncpool/base/mutex.pb.gz"
    url = spelling.replace("{host}", "127.0.0.1:1/heap")
    out = tmp_path / "x.json"
    for more, sides in product(([], ["--no-paths"]), ([url, profile], [profile, url])):
        done = cli(*sides, "-timeout=5", f"-o={out}", *more)
        assert (done.status, leaks(done.out + done.err)) == (2, [])
        assert done.err.startswith("pprofdiff: ") or "Fetching" in done.err


@pytest.mark.slow
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_errors_that_python_gets_have_none(spelling):
    url = spelling.replace("{host}", "127.0.0.1:1/heap")
    options = ReadOptions(timeout=5)
    for call in (
        lambda: read([url], options),
        lambda: pprofdiff.load(url),
        lambda: pprofdiff.compare(url, url),
    ):
        with pytest.raises(PprofDiffError) as caught:
            call()
        # What Python prints, source lines apart.
        lines = traceback.format_exception(caught.value)
        got = [line for line in lines if "Error: " in line]
        assert leaks([caught.value, *got]) == []
    assert leaks(without_login(url)) == []


@pytest.fixture
def server(serve_bytes, data_folder):
    """Return `host:port` of a server that gives a profile for every path."""
    return serve_bytes((data_folder / "syncpool/base/mutex.pb.gz").read_bytes())


FETCHED = [
    "http://me:SEKRET@{host}",
    "HTTP://T0KEN@{host}",
    "http://me:SEKRET%2FHIDDEN@{host}/debug/pprof/mutex",
    "http://me:SEKRET;=&+@{host}/debug/pprof/mutex",
    "main=http://me:SEKRET@HIDDEN@{host}",
    "http://{host}/me:SEKRET@h/mutex",
    "http://{host}/a/me:SEKRET@h/mutex",
    "http://{host}?me:SEKRET@h/mutex",
    "http://{host}/mutex#SEKRET@h",
    "http://{host}/SEKRET#@h",
    "{host}/SEKRET@h/mutex",
]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("spelling", FETCHED)
@pytest.mark.parametrize("more", [[], ["--no-paths"]])
def test_what_is_written_has_none(cli, server, saved, tmp_path, spelling, more):
    url = spelling.replace("{host}", server)
    names = ("x.json", "x.md", "x.html", "x.csv", "x.pb.gz")
    done = cli(url, url, *(f"-o={tmp_path / name}" for name in names), *more)
    assert done.status == 0
    assert leaks(done.out + done.err) == []
    for name in names:
        assert leaks((tmp_path / name).read_bytes()) == []
    (base,) = json.loads((tmp_path / "x.json").read_text("utf-8"))["inputs"]["base"]
    assert base["path"]
    assert leaks([path.name for path in saved.iterdir()]) == []
    assert len(list(saved.iterdir())) == 2


def test_python_shows_none_of_what_it_fetched(server):
    url = f"http://me:SEKRET@{server}"
    (source,) = read([f"main={url}"]).inputs
    assert leaks(repr(source)) == []
    assert source.argument == f"main=http://{server}"
    loaded = pprofdiff.load(url)
    both = pprofdiff.diff(url, url)
    builds = pprofdiff.load_many([url, f"http://me:HIDDEN@{server}/x"])
    shown = [
        loaded.path,
        repr(loaded),
        repr(both),
        both.to_json(),
        builds.groups_scaled,
    ]
    assert leaks(shown) == []


@pytest.mark.parametrize(
    "words",
    [
        ["-tree", "-diff_base={url}", "{url}"],
        ["-http=:0", "{url}", "{url}"],
        ["-seconds", "{url}", "x"],
        ["-seconds={url}", "x"],
        ["-unit", "{url}", "-sample_index={url}", "x"],
        ["-o", "{url}", "x", "y"],
        ["--fail-on", "{url}", "x", "y"],
        ["--{url}", "x", "y"],
        ["{url}", "{url}", "{url}"],
        ["demo", "{url}"],
        ["{url}", "-normalize=2"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("password", ["SEKRET", "SEKRET/HIDDEN", "SEK'RET?HIDDEN"])
def test_no_flag_quotes_one(cli, words, password):
    url = f"http://me:{password}@nothing.invalid/x"
    done = cli(*(word.format(url=url) for word in words))
    assert done.status == 2
    for part in ("SEKRET", "HIDDEN", "SEK", "RET?"):
        assert part not in done.out + done.err


@pytest.mark.parametrize(
    "words", [["-top"], ["-peek=x"], ["--pair=suffix=Old"], []], ids=" ".join
)
def test_no_view_quotes_one(cli, serve_bytes, data_folder, words):
    log = (data_folder / "sync-pool-gctrace/none-pool.log").read_bytes()
    host = serve_bytes(log)
    done = cli(*words, f"http://me:SEKRET@{host}")
    assert done.status == 2
    assert leaks(done.out + done.err) == []


def test_a_redirection_that_is_not_followed_shows_none(cli, serve_bytes):
    host = serve_bytes(b"", 302, [("Location", "gopher://me:SEKRET/HIDDEN@h/x")])
    done = cli(f"http://{host}", f"http://{host}")
    assert done.status == 2
    assert "not allowed" in done.err
    assert leaks(done.err) == []


@pytest.mark.parametrize(
    "name",
    ["cpu@v1.2.3.pb.gz", "mem_03:55:24", "run@host/cpu.pb.gz", "C:\\runs\\me@x.pb.gz"],
)
def test_names_of_files_stay(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PprofDiffError) as caught:
        locate(name)
    assert str(caught.value).startswith(f"{name}: no such file")
    Path("a:b@c").write_bytes(b"x")
    with pytest.raises(PprofDiffError, match=r"^a:b@c: neither a profile"):
        read(["a:b@c"])


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://me:pw@host:6060/x", "http://host:6060/x"),
        ("http://host:6060/x?y=z#w", "http://host:6060/x?y=z"),
        ("http://me:pa/ss@host/", "http://…@host/"),
        ("http://host:6060/a@b/c", "http://…@b/c"),
        ("http://me@[::1]:80/x", "http://[::1]:80/x"),
        ("http://bücher.example/x", "http://bücher.example/x"),
    ],
)
def test_what_is_shown(url, shown):
    try:
        got = request_for(url, ReadOptions()).shown
    except PprofDiffError as error:
        got = str(error).partition(": not a URL")[0]
    assert got == shown


@given(st.text(st.sampled_from("/?#@:%[]\\.=a1 \udcff"), max_size=12), st.booleans())
def test_whatever_stands_around_a_password(around, first):
    # Between `//` and the last `@` all may be a password.
    parts = (around, "SEKRET") if first else ("SEKRET", around)
    url = f"http://me:{''.join(parts)}@nothing.invalid/x"
    try:
        got = request_for(url, ReadOptions()).shown
    except PprofDiffError as error:
        got = str(error)
    assert leaks(got) == []
    assert got.isprintable()
