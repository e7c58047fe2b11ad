"""Shared fixtures: the captures in `tests/data`, and the command line run in here."""

from __future__ import annotations

import gc
import json
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import hypothesis
import pytest

from pprofdiff.api import load
from pprofdiff.cli.main import main
from tests.repository import Planted, planted
from tests.traces import make, toolchains

DATA = Path(__file__).parent / "data"
STORIES = ("syncpool", "rss-search", "zstd", "health-check", "node-pool")


# How long an example takes says what else the machine does, and nothing of the code.
# Examples are the same in each run of the same test: chance decides none.
_ALWAYS = hypothesis.settings(deadline=None, derandomize=True)
hypothesis.settings.register_profile("whole", _ALWAYS, max_examples=100)
hypothesis.settings.register_profile("daily", _ALWAYS, max_examples=15)
hypothesis.settings.load_profile("daily")
_CACHED = type(cache(len))
_NEEDED = re.compile(r"(?<![\w.])((?:[a-z]+-)?)(1\.\d+\.\d+)(?![\w.])")


def pytest_addoption(parser):
    """Add the switch between what a developer runs and what must pass before a merge."""
    parser.addoption(
        "--whole",
        action="store_true",
        help="every Go release (downloads seven toolchains) and case, six times the examples",
    )


def pytest_configure(config):
    """Tell all processes of the session what they share."""
    whole = config.getoption("whole")
    hypothesis.settings.load_profile("whole" if whole else "daily")
    # Every report of every test is checked for contradictions.
    os.environ["PPROFDIFF_CHECK"] = "1"
    if hasattr(config, "workerinput"):
        return
    os.environ[toolchains.RELEASES] = " ".join(toolchains.VERSIONS if whole else ())
    folder = tempfile.mkdtemp(prefix="pprofdiff-traces-")
    os.environ[toolchains.FOLDER] = folder
    # Hundreds of processes import the package: one of them compiles it.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def pytest_collection_modifyitems(config, items):
    """Leave out what needs a Go release that is not asked for, or Go where there is none.

    Which release a test needs stands in its name, as it is a parameter; which of its
    traces, before it. Without ``--whole`` every third case of a matrix is left.
    """
    for item in items:
        if item.get_closest_marker("go"):
            item.add_marker("slow")
    if not config.getoption("whole"):
        left = {
            item
            for item in items
            if item.get_closest_marker("whole") or _needs_another_go(item)
        }
        cases = Counter()
        for item in items:
            if item.get_closest_marker("matrix") and item not in left:
                test = item.path, item.originalname
                if cases[test] % 3:
                    left.add(item)
                cases[test] += 1
        config.hook.pytest_deselected(items=[item for item in items if item in left])
        items[:] = [item for item in items if item not in left]
    if shutil.which("go") is None:
        skip = pytest.mark.skip(reason="needs the Go toolchain: go is not on PATH")
        for item in items:
            if item.get_closest_marker("go"):
                item.add_marker(skip)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Have the garbage collector pass over what stays: 17,000 tests, modules, parameters.

    While they are made it would look at each again and again, a quarter of the time; a
    whole collection takes half a second with them, hardly any time without.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """Forget what the tests of a folder share when the last of them is done."""
    done = yield
    if nextitem is not None and nextitem.path.parent != item.path.parent:
        for name in [name for name in sys.modules if name.startswith("tests.")]:
            for value in vars(sys.modules[name]).values():
                if isinstance(value, _CACHED):
                    value.cache_clear()
        gc.collect()
    return done


def _needs_another_go(item):
    """Tell whether a test needs a Go other than the one on PATH, and no kept trace."""
    return shutil.which("go") is not None and any(
        not toolchains.at_hand(go)
        and not (make.KEPT / f"{maker}{go}.trace.xz").exists()
        for maker, go in _NEEDED.findall(item.name)
    )


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
    return load(path).data


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


@pytest.fixture(scope="session")
def planted_repo():
    """Return a repository in which one commit of many made a function slower.

    One process of a session makes it for all: nobody writes to it.
    """
    place = toolchains.session() / "planted"

    def make(draft):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        draft.write_text(json.dumps(planted(place), default=str), "utf-8")

    got = toolchains.once(place.with_suffix(".json"), make)
    return Planted.of(json.loads(got.read_text("utf-8")))


@pytest.fixture
def brief_searches(monkeypatch):
    """Have a search that would not end given up after 0.1 s of CPU rather than 2 s."""
    monkeypatch.setattr("pprofdiff.analysis.profiles.regexp._SECONDS", 0.1)


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
