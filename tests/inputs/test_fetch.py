"""Fetching from loopback servers: rules of URLs, both sides at once, every way to fail."""

from __future__ import annotations

import base64
import contextlib
import gzip
import re
import socket
import ssl
import subprocess
import threading
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from pprofdiff.errors import FetchError, FormatError
from pprofdiff.inputs import ReadOptions, read, read_sides
from pprofdiff.inputs.fetch import request_for
from tests.examples import daily
from tests.inputs.conftest import reply

PROFILE = gzip.compress(b"\x0a\x04\x08\x01\x10\x02\x32\x00\x32\x03cpu", mtime=0)
TRACE = b"go 1.22 trace\0\0\0"
OPTIONS = ReadOptions(timeout=20)


@pytest.fixture
def record(serve):
    """Return a server that answers 404, and a list of what it was asked for."""
    asked = []

    def answer(request):
        asked.append(request.path)
        request.send_error(404)

    return serve(answer), asked


@pytest.fixture
def hang_up(serve):
    """Return a function: what to do with a request before hanging until the end."""
    over = threading.Event()

    def start(first):
        def answer(request):
            first(request, over)
            over.wait(30)

        return serve(answer)

    yield start
    over.set()


def ask(host, options=OPTIONS):
    (source,) = read([f"{host}/debug/pprof/heap"], options).inputs
    return source


def test_what_a_server_gives(serve_bytes, saved):
    said = []
    host = serve_bytes(PROFILE)
    source = ask(host, ReadOptions(say=said.append))
    url = f"http://{host}/debug/pprof/heap"
    copy = saved / f"pprof.{host.translate(str.maketrans('.:', '__'))}.heap.001.pb.gz"
    assert (source.path, source.kind, source.data) == (url, "profile", PROFILE)
    assert source.saved_to == str(copy)
    assert copy.read_bytes() == PROFILE
    assert said == [f"Fetching {url}", f"Saved {copy}"]


def test_copies_never_overwrite(serve_bytes, saved):
    host = serve_bytes(PROFILE)
    taken = [Path(ask(host).saved_to).name[-10:] for _ in range(3)]
    assert taken == [".001.pb.gz", ".002.pb.gz", ".003.pb.gz"]
    assert len(list(saved.iterdir())) == 3


def test_a_chosen_folder_for_copies(serve_bytes, saved, tmp_path):
    chosen = tmp_path / "a" / "b"
    host = serve_bytes(TRACE)
    source = ask(host, ReadOptions(save_dir=str(chosen)))
    assert [str(path) for path in chosen.iterdir()] == [source.saved_to]
    assert source.saved_to.endswith(".heap.001.trace")
    assert not list(saved.iterdir())


def test_a_folder_that_cannot_be_made_gives_way_to_the_next(
    serve_bytes, saved, tmp_path
):
    (tmp_path / "file").touch()
    said = []
    options = ReadOptions(save_dir=str(tmp_path / "file" / "x"), say=said.append)
    source = ask(serve_bytes(PROFILE), options)
    assert Path(source.saved_to).parent == saved
    assert said[1].startswith("Could not save a copy in ")


def test_without_a_setting_copies_go_home(serve_bytes, monkeypatch, tmp_path):
    monkeypatch.delenv("PPROF_TMPDIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Path(ask(serve_bytes(PROFILE)).saved_to).parent == tmp_path / "pprof"


def test_both_sides_are_fetched_at_once(serve, saved):
    meeting = threading.Barrier(4)

    def answer(request):
        meeting.wait(20)  # broken unless four requests are in flight together
        reply(request, PROFILE + bytes(int(request.path[-1])))

    host = serve(answer)
    base, new = read_sides(
        [f"main={host}/a1", f"{host}/a2"], [f"{host}/a3", f"pr={host}/a4"], OPTIONS
    )
    assert (base.label, new.label) == ("main", "pr")
    sources = base.inputs + new.inputs
    assert [len(s.data) - len(PROFILE) for s in sources] == [1, 2, 3, 4]
    assert len(list(saved.iterdir())) == 4


def test_a_failure_lets_the_other_side_be_saved(serve, saved):
    failed = threading.Event()
    said = []

    def answer(request):
        if request.path == "/bad":
            request.send_error(503)
            return
        failed.wait(20)
        reply(request, PROFILE)

    def say(message):
        said.append(message)
        if "503" in message:
            failed.set()

    host = serve(answer)
    with pytest.raises(FetchError, match="/bad: server answered 503"):
        read_sides([f"{host}/bad"], [f"{host}/good"], ReadOptions(timeout=25, say=say))
    assert said[2].endswith("waiting for the other inputs to save them")
    assert [path.read_bytes() for path in saved.iterdir()] == [PROFILE]


def test_local_mistakes_come_before_any_fetch(record, tmp_path):
    host, asked = record
    (tmp_path / "empty").touch()
    for argument in (tmp_path / "empty", tmp_path / "nothing"):
        with pytest.raises((FetchError, FormatError)):
            read_sides([f"{host}/a"], [str(argument)])
    assert asked == []


@pytest.mark.parametrize(
    ("status", "headers", "body", "shown"),
    [
        (500, [("X-Go-Pprof", "1")], b"cpu profiling already in use\nx", ": cpu profiling already in use"),
        (404, [("Content-Type", "text/plain; charset=utf-8")], b"Unknown \x1b[1mprofile\n", r": Unknown \x1b[1mprofile"),
        (404, [("Content-Type", "text/html")], b"<html>no</html>", ""),
        (401, [("Content-Type", "text/plain")], b"", ""),
        (202, [("Content-Type", "text/plain")], b"later", ": later"),
        (206, [], PROFILE, ""),
    ],
)  # fmt: skip
def test_other_statuses(serve_bytes, status, headers, body, shown):
    with pytest.raises(FetchError) as caught:
        ask(serve_bytes(body, status, headers))
    assert re.search(rf"server answered {status} [A-Za-z ]+", str(caught.value))
    assert str(caught.value).endswith(shown)
    assert str(caught.value).isprintable()
    assert bool(shown) == (str(caught.value).count(": ") == 2)


@pytest.mark.slow
def test_a_server_that_says_nothing(hang_up):
    host = hang_up(lambda request, over: None)
    with pytest.raises(FetchError, match="raise -timeout"):
        ask(host, ReadOptions(timeout=0.2))


@pytest.mark.slow
def test_a_server_that_trickles(hang_up):
    def trickle(request, over):
        reply(request, b"")
        while not over.wait(0.02):
            request.wfile.write(b"x")
            request.wfile.flush()

    # Long enough for its first byte, on a busy machine too.
    with pytest.raises(FetchError, match=r"no complete answer within 2 s"):
        ask(hang_up(trickle), ReadOptions(timeout=2))


@pytest.mark.parametrize("declared", [[("Content-Length", str(1 << 40))], []])
def test_a_body_over_the_limit(serve, declared, saved):
    def answer(request):
        reply(request, b"", headers=declared)
        while True:  # ends when the reader hangs up
            request.wfile.write(bytes(1 << 16))

    with pytest.raises(FetchError, match=r"holds more than 1 MiB; raise --max-size"):
        ask(serve(answer), ReadOptions(timeout=20, max_size=1 << 20))
    assert not list(saved.iterdir())


def test_a_body_cut_short(serve_bytes):
    host = serve_bytes(PROFILE, headers=[("Content-Length", "1000")])
    with pytest.raises(FetchError, match=rf"closed after {len(PROFILE)} of 1000 bytes"):
        ask(host)


def test_a_chunked_body_cut_short(serve):
    def answer(request):
        request.protocol_version = "HTTP/1.1"
        reply(request, b"10\r\nabc", headers=[("Transfer-Encoding", "chunked")])
        request.close_connection = True

    with pytest.raises(FetchError, match=r"IncompleteRead|connection closed"):
        ask(serve(answer))


def test_a_server_that_packs_its_answer_unasked(serve_bytes):
    packed = [("Content-Encoding", "gzip")]
    assert ask(serve_bytes(gzip.compress(TRACE), headers=packed)).data == TRACE
    with pytest.raises(FormatError, match="holds more than"):
        ask(
            serve_bytes(gzip.compress(bytes(1 << 20)), headers=packed),
            ReadOptions(max_size=1 << 16),
        )


def test_a_web_page_is_refused_and_kept(serve_bytes, saved):
    with pytest.raises(FormatError, match="web page, not a profile"):
        ask(serve_bytes(b"<!DOCTYPE html><p>Log in"))
    assert [path.suffix for path in saved.iterdir()] == [".html"]


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ("127.0.0.1:1", "connection refused; is the program running"),
        ("nothing.invalid:80", "no such host"),
    ],
)
def test_nobody_answers(host, message):
    with pytest.raises(FetchError, match=message):
        ask(host)


def test_a_plain_server_asked_for_https(serve_bytes):
    with pytest.raises(FetchError, match="does it serve plain http"):
        ask(f"https://{serve_bytes(PROFILE)}")


def test_not_http(serve):
    def answer(request):
        request.wfile.write(b"SSH-2.0-OpenSSH_9.9\r\n")

    with pytest.raises(FetchError, match=r"it does not speak HTTP"):
        ask(serve(answer))


@pytest.mark.parametrize("url", ["http://host:99999/x", "http://[::1/x", "http:///x"])
def test_urls_that_are_none(url):
    with pytest.raises(FetchError):
        read([url])


@pytest.mark.parametrize("target", ["file:///etc/hostname", "ftp://h/x", "data:,x"])
def test_redirects_stay_on_the_web(serve_bytes, target):
    host = serve_bytes(b"", 302, [("Location", target)])
    with pytest.raises(FetchError, match=r"is not allowed|unknown url type"):
        ask(host)


def test_a_password_is_sent_to_its_host_alone_and_never_shown(serve, saved):
    seen = {}

    def elsewhere(request):
        seen["elsewhere"] = request.headers.get("Authorization")
        reply(request, PROFILE)

    other = serve(elsewhere)

    def answer(request):
        seen["first"] = request.headers.get("Authorization")
        reply(request, b"", 302, [("Location", f"http://{other}/x")])

    host = serve(answer)
    said = []
    source = ask(f"http://me:s%40cret@{host}", ReadOptions(say=said.append))
    assert seen["first"] == "Basic " + base64.b64encode(b"me:s@cret").decode()
    assert seen["elsewhere"] is None
    assert "cret" not in f"{said}{source.path}{source.saved_to}"


def test_a_proxy_is_not_asked_for_this_machine(serve_bytes, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert ask(serve_bytes(PROFILE)).data == PROFILE


def test_a_proxy_is_asked_for_others(serve, monkeypatch):
    asked = []

    def answer(request):
        asked.append(request.path)
        reply(request, PROFILE)

    monkeypatch.setenv("http_proxy", f"http://{serve(answer)}")
    assert ask("service.invalid:6060").data == PROFILE
    assert asked == ["http://service.invalid:6060/debug/pprof/heap"]


@pytest.mark.go
def test_a_certificate_nobody_signed_is_refused(go_root):
    folder = go_root / "src/crypto/tls/testdata"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "example-cert.pem", folder / "example-key.pem")

    def serve_one():
        connection, _ = listener.accept()
        with connection, contextlib.suppress(OSError):
            context.wrap_socket(connection, server_side=True).close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = threading.Thread(target=serve_one)
        server.start()
        with pytest.raises(FetchError, match="its certificate is not trusted"):
            read([f"https://127.0.0.1:{listener.getsockname()[1]}/x"], OPTIONS)
        server.join()


@pytest.mark.parametrize(
    ("query", "seconds", "timeout", "measured", "waited"),
    [
        ("/debug/pprof/profile?seconds=20", None, None, 20, 35),
        ("/debug/pprof/profile?seconds=20", 4, None, 4, 11),
        ("/debug/pprof/profile?seconds=20", 4, 100, 4, 100),
        ("/debug/pprof/heap", None, None, None, 60),
        ("/debug/pprof/profile", None, None, 30, 60),
        ("/debug/pprof/trace", None, None, 1, 60),
        ("/debug/pprof/trace?seconds=0.5", None, None, 0.5, 5.75),
        ("/debug/pprof/heap?seconds=x", None, None, None, 60),
        ("/debug/pprof/heap?seconds=inf", None, None, None, 60),
        ("/debug/pprof/heap?seconds=-5", None, 7, None, 7),
    ],
)
def test_how_long_to_measure_and_to_wait(query, seconds, timeout, measured, waited):
    options = ReadOptions(seconds=seconds, timeout=timeout)
    request = request_for(f"http://h{query}", options)
    assert (request.seconds, request.timeout) == (measured, waited)


@pytest.mark.go
@pytest.mark.parametrize("seconds", daily((None, 3), (3,)))
@pytest.mark.parametrize(
    "target",
    [
        "{}",
        "{}/",
        "http://{}",
        "http://{}?debug=0",
        "{}/debug/pprof/heap",
        "http://{}/debug/pprof/heap?gc=1",
        "{}/debug/pprof/profile?seconds=2&x=%20y",
        "http://{}/a%2Fb/c%20d",
    ],
)
def test_the_request_matches_go_tool_pprof(go_root, record, target, seconds):
    host, asked = record
    argument = target.format(host)
    flags = [] if seconds is None else [f"-seconds={seconds}"]
    subprocess.run(
        ["go", "tool", "pprof", "-proto", *flags, argument],
        check=False,
        capture_output=True,
    )
    with pytest.raises(FetchError, match="404"):
        read([argument], ReadOptions(seconds=seconds, timeout=20))
    theirs, ours = (urlsplit(path) for path in (asked[0], asked[-1]))
    assert len(asked) >= 2
    assert ours.path == theirs.path
    assert parse_qs(ours.query) == parse_qs(theirs.query)


@pytest.mark.go
def test_a_real_go_program_gives_profile_and_trace(go_server, saved):
    said = []
    options = ReadOptions(seconds=1, say=said.append)
    base, new = read_sides(
        [f"{go_server.address}"], [f"{go_server.address}/debug/pprof/trace"], options
    )
    assert [base.inputs[0].kind, new.inputs[0].kind] == ["profile", "trace"]
    assert (
        f"Fetching http://{go_server.address}/debug/pprof/profile?seconds=1 (1 s)"
        in said
    )
    assert {path.suffix for path in saved.iterdir()} == {".gz", ".trace"}
