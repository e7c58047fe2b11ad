"""Start-up is short because nothing is imported before it is needed.

Each run is a process of its own, which lists what was imported by the time it ended.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
HEAVY = {"numpy", "pandas", "matplotlib", "google.protobuf", "rich", "jinja2"}
PROGRAM = """
import json, sys
from pprofdiff.cli.main import main
status = main(json.loads(sys.argv[1]))
sys.stdout.flush()
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
sys.exit(status)
"""


def imported(program, *arguments, **environment):
    """Return which modules a program has imported when it ends.

    It runs where no project's settings are read.
    """
    settings = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, *arguments],
        capture_output=True, text=True, check=True, env=settings, cwd=os.sep,
    )  # fmt: skip
    return set(json.loads(done.stderr.splitlines()[-1]))


def after(*words, **environment):
    """Return which modules a run of the command line has imported."""
    return imported(PROGRAM, json.dumps([str(w) for w in words]), **environment)


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_and_version_need_nothing(word):
    assert after(word) & HEAVY == set()


def test_importing_the_package_is_free():
    names = imported(
        "import json, sys, pprofdiff\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    assert names & HEAVY == set()
    assert {n for n in names if n.startswith("pprofdiff")} == {
        "pprofdiff",
        "pprofdiff._version",
    }


@pytest.mark.parametrize("output", [None, "x.json", "x.csv", "x.pb.gz"])
def test_a_diff_needs_numpy_and_protobuf_alone(syncpool, tmp_path, output):
    words = [] if output is None else ["-q", f"-o={tmp_path / output}"]
    names = after(syncpool.base / "cpu.pb.gz", syncpool.new / "cpu.pb.gz", *words)
    assert names & HEAVY == {"numpy", "google.protobuf"}
    # Nothing is fetched, nothing is drawn, nothing is asked of the system.
    assert (
        names
        & {
            "urllib.request",
            "http.client",
            "ssl",
            "asyncio",
            "concurrent.futures",
            # What np.unique and protobuf's own ways to its classes import.
            "numpy.ma",
            "google.protobuf.internal.python_message",
            "statistics",
            "hypothesis",
            "pytest",
        }
        == set()
    )


def test_what_is_for_traces_or_urls_waits_for_one(syncpool):
    names = after(syncpool.base / "cpu.pb.gz", syncpool.new / "cpu.pb.gz")
    assert "urllib.parse" not in names
    parts = (
        "pprofdiff.analysis.traces",
        "pprofdiff.loaders.traces",
        "pprofdiff.model.traces.trace",
    )
    rules = "starts", "capacity", "waits"
    waiting = *parts, *(f"pprofdiff.analysis.causes.rules.{name}" for name in rules)
    causes = "pprofdiff.analysis.causes"
    waiting = *waiting, f"{causes}.ends", f"{causes}.off_cpu"
    assert [name for name in names if name.startswith(waiting)] == []


@pytest.mark.go
def test_source_is_looked_for_when_asked(syncpool, planted_repo):
    pair = syncpool.base / "cpu.pb.gz", syncpool.new / "cpu.pb.gz"
    parts = "pprofdiff.inputs.sources", "pprofdiff.analysis.lines", "subprocess"
    waiting = *parts, "pprofdiff.analysis.causes.sources", "difflib", "tempfile"
    assert [name for name in after(*pair) if name.startswith(waiting)] == []
    asked = after(*planted_repo.words, f"--repo={planted_repo.repo.folder}")
    assert asked & HEAVY == {"numpy", "google.protobuf"}
    assert {"subprocess", "pprofdiff.inputs.sources.git"} <= asked


def test_colour_needs_rich(syncpool):
    names = after(
        syncpool.base / "cpu.pb.gz", syncpool.new / "cpu.pb.gz", "--color=always"
    )
    assert names & HEAVY == {"numpy", "google.protobuf", "rich"}


def test_an_error_needs_no_more_than_it_says(tmp_path):
    program = PROGRAM.replace("sys.exit(status)", "assert status == 2")
    names = imported(program, json.dumps([str(tmp_path / "none"), "x", "--unknown"]))
    assert names & HEAVY == set()
