"""Loopback servers: one that a test scripts, and a real Go program with net/http/pprof."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.repository import go_env

HERE = Path(__file__).parent
# Ends a program with what it imported, as `tests.test_imports.imported` reads it.
LISTS = "import json, sys\nprint(json.dumps([*sys.modules]), file=sys.stderr)"
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def saved(tmp_path_factory, monkeypatch):
    """Return where copies of what is fetched go: never the developer's home."""
    folder = tmp_path_factory.mktemp("saved")
    monkeypatch.setenv("PPROF_TMPDIR", str(folder))
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return folder


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Return an empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


class _Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        """Say nothing: several tests hang up on purpose."""


@pytest.fixture
def serve():
    """Return a function: handler(request) -> None in, `host:port` of its server out."""
    with ExitStack() as stack:

        def start(handler):
            class Handler(BaseHTTPRequestHandler):
                def do_GET(self):
                    handler(self)

                def log_message(self, *_):
                    pass

            server = stack.enter_context(_Server(("127.0.0.1", 0), Handler))
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.shutdown)
            return f"127.0.0.1:{server.server_port}"

        yield start


def reply(request, body, status=200, headers=()):
    """Answer a request."""
    request.send_response(status)
    for name, value in headers:
        request.send_header(name, value)
    request.end_headers()
    request.wfile.write(body)


@pytest.fixture
def serve_bytes(serve):
    """Return a function: what to `reply` in, `host:port` out."""
    return lambda *answer, **more: serve(
        lambda request: reply(request, *answer, **more)
    )


class GoServer(NamedTuple):
    """A running Go program, its binary, and its gctrace log so far."""

    address: str
    binary: Path
    log: Path


@pytest.fixture(scope="session")
def go_root():
    """Return the Go installation, or skip."""
    if shutil.which("go") is None:
        pytest.skip("needs the Go toolchain")
    return Path(go_env("GOROOT"))


@pytest.fixture(scope="package")
def go_server(go_root, tmp_path_factory):
    """Run a Go program that serves net/http/pprof and logs its GC cycles.

    It takes a tenth of a processor: it ends with the tests of this folder.
    """
    folder = tmp_path_factory.mktemp("go")
    binary = folder / "server"
    subprocess.run(
        ["go", "build", "-o", binary, HERE / "pprof_server.go"], check=True, cwd=folder
    )
    log = folder / "stderr.log"
    environment = {**os.environ, "GODEBUG": "gctrace=1"}
    with (
        log.open("wb") as stderr,
        subprocess.Popen(
            [binary],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=environment,
        ) as process,
    ):
        yield GoServer(process.stdout.readline().decode().strip(), binary, log)
        process.stdin.close()
