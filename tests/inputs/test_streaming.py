"""Texts are read as they come: files, pipes, standard input and gzip, in little memory."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pprofdiff.inputs
from pprofdiff.errors import FormatError
from pprofdiff.inputs import ReadOptions, read
from tests.inputs.conftest import LISTS
from tests.test_imports import imported

DATA = Path(__file__).parents[1] / "data"
BENCH = (DATA / "zstd/base/bench.txt").read_bytes()
GC_LOG = (DATA / "zstd/base/gctrace.log").read_bytes()
WRK = (DATA / "load/wrk.txt").read_bytes()
OTHER = b"12:00:01 request handled in 3 ms, 42 bytes\n"
# More than one block before, between and after, each beginning in another.
TEXT = OTHER * 150_000 + GC_LOG + OTHER * 150_000 + BENCH + WRK + OTHER * 100_000
ROOT = str(Path(pprofdiff.inputs.__file__).parents[2])
MIB = 1 << 20

REPORT = """
import resource, sys
from pprofdiff.inputs import read
sources = read(sys.argv[1:]).inputs
log = {s.kind: s.scanned for s in sources}
print([(s.path, s.kind, len(s.data)) for s in sources])
print(log["gctrace"].longest.lines_seen, len(log["benchmark"].results))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def quickly(text):
    """Return a text gzipped: how well does not matter."""
    return gzip.compress(text, 1)


def check(sources, path):
    """Assert that these are the sources of `TEXT`."""
    assert [(s.path, s.kind, s.data) for s in sources] == [
        (path, "gctrace", b""),
        (path, "benchmark", b""),
        (path, "load", b""),
    ]
    log, benchmarks, load = (s.scanned for s in sources)
    assert log.longest.lines_seen == GC_LOG.count(b"\ngc ") + 1
    assert len(benchmarks.results) == 8
    assert load.requests == 164714
    assert "scanned=" not in repr(sources[0])


PACKED = pytest.mark.parametrize("pack", [bytes, quickly], ids=["plain", "gzip"])


@pytest.mark.slow
@PACKED
@pytest.mark.parametrize("argument", ["run/log", "run"])
def test_a_file_or_its_folder(here, argument, pack):
    (here / "run").mkdir()
    (here / "run" / "log").write_bytes(pack(TEXT))
    check(read([argument]).inputs, "run/log")


@pytest.mark.slow
@PACKED
def test_a_named_pipe(here, pack):
    (here / "log").write_bytes(pack(TEXT))
    os.mkfifo(here / "pipe")
    with subprocess.Popen(["cp", "log", "pipe"]):
        check(read(["pipe"]).inputs, "pipe")


@pytest.mark.slow
@PACKED
def test_the_size_limit_holds(here, pack):
    (here / "log").write_bytes(pack(TEXT))
    assert read(["log"], ReadOptions(max_size=len(TEXT))).inputs
    with pytest.raises(FormatError, match=r"^log: holds more than 8 MiB; raise --max"):
        read(["log"], ReadOptions(max_size=8 * MIB))


def reported(arguments, text, repeats):
    """Pipe a text, repeated, to a process of its own; return what it reports."""
    with subprocess.Popen(
        [sys.executable, "-c", REPORT, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": ROOT},
    ) as process:
        for piece in (GC_LOG, *[text] * repeats, BENCH):
            process.stdin.write(piece)
        process.stdin.close()
        found, held, peak = process.stdout.read().decode().splitlines()
    return found, held, int(peak)


@pytest.mark.slow
def test_standard_input_takes_no_memory_for_its_length():
    text = OTHER * (MIB // len(OTHER))
    short, long = (reported(["-"], text, repeats) for repeats in (16, 144))
    assert short[:2] == long[:2]
    name = "standard input"
    assert long[0] == str([(name, "gctrace", 0), (name, "benchmark", 0)])
    assert long[1] == f"{GC_LOG.count(b'gc ')} 8"
    # 128 MiB more went through; ru_maxrss is in KiB on Linux, in bytes on macOS.
    assert long[2] - short[2] < 16 * 1024 * (1024 if sys.platform == "darwin" else 1)


def test_profiles_do_without_the_log_readers():
    code = f"import sys, pprofdiff.inputs\npprofdiff.inputs.read(sys.argv[1:])\n{LISTS}"
    loaded = imported(code, str(DATA / "zstd/base/cpu.pb.gz"))
    assert "pprofdiff.inputs.intake" in loaded
    assert not {n for n in loaded if n.startswith(("pprofdiff.loaders", "numpy"))}


@pytest.mark.slow
@PACKED
def test_a_log_from_a_server_is_saved_and_read(serve_bytes, saved, pack):
    data = pack(TEXT)
    host = serve_bytes(data)
    sources = read([f"{host}/logs"]).inputs
    check(sources, f"http://{host}/logs")
    (copy,) = saved.iterdir()
    assert [s.saved_to for s in sources] == [str(copy)] * 3
    assert copy.read_bytes() == data
    assert copy.name.endswith(".log" if pack is bytes else ".log.gz")
