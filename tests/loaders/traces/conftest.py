"""Real traces: those in `tests/data`, and new ones from every Go version at hand."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.examples import whole
from tests.traces import oracle
from tests.traces.make import TRIES, kept
from tests.traces.toolchains import (
    MissingGoError,
    environment,
    once,
    session,
    version,
)

HERE = Path(__file__).parent
VERSIONS = ("1.22.12", "1.23.12", "1.25.14", "1.26.8", "1.27.3")
# What a trace is to show next to the ordinary.
PLAIN, OBJECTS, FLIGHT = "plain", "objects", "flight"
KINDS = [
    *((version, PLAIN) for version in VERSIONS),
    *((version, OBJECTS) for version in VERSIONS[1:]),
    *((version, FLIGHT) for version in VERSIONS[2:]),
]


def _make(go, kind, out):
    """Build the program of `program/` with a version of Go, and have it write a trace."""
    settings = environment(go)
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder) / "program"
        shutil.copytree(HERE / "program", there)
        # A module of Go 1.22 is built as 1.22 was: its settings of GODEBUG too.
        (there / "go.mod").write_text("module program\n\ngo 1.22\n", "utf-8")
        tags = ["-tags", "flight"] if kind == FLIGHT else []
        subprocess.run(
            ["go", "build", *tags, "-o", "program", "."],
            cwd=there,
            env=settings,
            check=True,
        )
        # A short period between generations: the trace has several.
        settings["GODEBUG"] = "traceadvanceperiod=50000000"
        if kind == OBJECTS:
            settings["GODEBUG"] += ",traceallocfree=1"
        # Go 1.26 spoils traces of the experiment now and then: see `Maker.spoils`.
        spoils = kind == OBJECTS and go.startswith("1.26.")
        for _ in range(TRIES if spoils else 1):
            subprocess.run([there / "program", out], env=settings, check=not spoils)
            if not spoils or _read_by_go(out):
                return
        raise subprocess.SubprocessError(f"Go {go} spoiled {TRIES} traces")


def _read_by_go(path):
    """Return whether Go reads a trace to its end."""
    try:
        return path.exists() and oracle.summary(path)["error"] is None
    except oracle.RefusedError:
        return False


@pytest.fixture(scope="session", name="traces")
def _traces():
    """Return a function: a version of Go and a kind in, the path of a trace out."""

    def trace(go, kind):
        if not whole() and (path := kept(f"{kind}-{go}")):
            return path
        try:
            version(go)
        except MissingGoError as missing:
            pytest.skip(str(missing))
        return once(
            session() / f"program-{kind}-{go}.trace", lambda out: _make(go, kind, out)
        )

    return trace
