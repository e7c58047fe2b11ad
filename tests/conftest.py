"""Shared fixtures: the captures in `tests/data`, and the command line run in here."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path
from typing import NamedTuple

import hypothesis
import pytest

from pprofdiff.api import load
from pprofdiff.cli.main import main

DATA = Path(__file__).parent / "data"
STORIES = ("syncpool", "rss-search", "zstd", "health-check", "node-pool")


# How long an example takes says what else the machine does, and nothing of the code.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")


def pytest_collection_modifyitems(items):
    """Skip, with the reason, what needs Go where it is not on PATH."""
    if shutil.which("go") is None:
        skip = pytest.mark.skip(reason="needs the Go toolchain: go is not on PATH")
        for item in items:
            if item.get_closest_marker("go"):
                item.add_marker(skip)


class Outcome(NamedTuple):
    """What a run of the command line left: exit status, standard output and error."""

    status: int
    out: str
    err: str


class Story(NamedTuple):
    """Two captures of one story, and the operations that each did while profiled."""

    base: Path
    new: Path
    work: tuple[int, int]


@cache
def capture(path):
    """Return the profile at a path, read once: profiles are never changed."""
    return load(path)


@cache
def story(name):
    """Return a story's captures."""
    base, new = DATA / name / "base", DATA / name / "new"
    done = [json.loads((p / "work.json").read_text("utf-8")) for p in (base, new)]
    return Story(base, new, (done[0]["operations"], done[1]["operations"]))


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch, tmp_path_factory):
    """Take away what a developer's shell may set; copies of fetches go nowhere."""
    for name in ("NO_COLOR", "FORCE_COLOR", "PPROFDIFF_TRACEBACK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PPROF_TMPDIR", str(tmp_path_factory.getbasetemp() / "saved"))


@pytest.fixture(scope="session", name="data_folder")
def data():
    """Return the folder of captures."""
    return DATA


@pytest.fixture(scope="session")
def load_capture():
    """Return a function: a path in, the profile there out, read once."""
    return capture


@pytest.fixture(scope="session")
def load_story():
    """Return a function: a story's name in, its captures out."""
    return story


@pytest.fixture
def syncpool():
    """Return the captures of the story that the examples use."""
    return story("syncpool")


@pytest.fixture
def cli(capsys):
    """Return a function: words of the command line in, `Outcome` out."""

    def run(*words):
        capsys.readouterr()
        status = main([str(word) for word in words])
        return Outcome(status, *capsys.readouterr())

    return run
