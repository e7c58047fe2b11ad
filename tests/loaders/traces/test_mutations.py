"""Mutated traces of all formats end in a trace or one line, within memory and time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import DATA
from tests.examples import examples
from tests.traces import make

from .v1.test_v1 import canned

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
OLD = (
    "user_task_region_1_11_good", "user_task_region_1_21_good",
    "stress_start_stop_1_19_good", "http_1_21_good",
)  # fmt: skip
MADE = (
    ("tasks", "1.19.4"), ("samples", "1.21.13"), ("procs", "1.22.12"),
    ("coroutines", "1.23.12"), ("stops", "1.25.14"), ("tasks", "1.26.8"),
    ("samples", "1.27.3"),
)  # fmt: skip
ROUNDS = examples(500)


def smallest():
    """Return the smallest of the captures."""
    return min(DATA.rglob("trace.out"), key=lambda path: path.stat().st_size)


def run(*words):
    """Run Python without a pool of threads: its address space would be of the limit."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def read(seed, paths, folder):
    """Read mutations of files in a process of its own; return how many ended how."""
    kept = folder / "kept.trace"
    words = [str(seed), str(ROUNDS), str(kept), *map(str, paths)]
    done = run("-m", "tests.loaders.traces.fuzzing", *words)
    assert done.returncode == 0, f"{kept}: {done.stderr[-3000:]}"
    return json.loads(done.stdout)


def settled(counts):
    """Check that mutations were read, and that some were worth reading."""
    assert sum(counts.values()) == ROUNDS
    assert min(counts.values()) > ROUNDS // 20


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.whole)])
def test_a_capture(seed, tmp_path):
    settled(read(seed, [smallest()], tmp_path))


@pytest.mark.go
@pytest.mark.parametrize("seed", [3, 4])
def test_traces_of_every_format_and_parts_of_one_in_another(seed, tmp_path):
    paths = [smallest(), *map(canned, OLD), *(make.trace(*one) for one in MADE)]
    settled(read(seed, paths, tmp_path))


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS limits no address space")
def test_limits_hold_and_the_bytes_are_kept(tmp_path):
    """A process that takes too much ends, and what it read last is there."""
    program = (
        "import sys\n"
        "from tests.loaders.traces import fuzzing\n"
        "fuzzing.MEMORY = 1 << 20\n"
        "fuzzing.main('1', '50', *sys.argv[1:])\n"
    )
    kept = tmp_path / "kept.trace"
    done = run("-c", program, str(kept), str(smallest()))
    assert done.returncode != 0
    assert "MemoryError" in done.stderr
    assert kept.stat().st_size > 0
