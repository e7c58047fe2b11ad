"""Runs are called as the folders and files that hold them."""

import pytest

from pprofdiff.analysis.runs.headline import run_names
from pprofdiff.analysis.side import numbered
from pprofdiff.model.side import Capture, Side
from tests.analysis.outcome.evidence import bench, cpu

PROFILE = cpu({"main.f": 10})[0].content
OUTPUT = bench({"A": 100})[0].content


def names(*captures):
    """Return the names of a side's runs, in order."""
    return [
        tuple(name) for name in run_names(numbered(Side("base", captures))).values()
    ]


def of(path, run=0, *, run_known=False):
    """Return a capture of a path: a CPU profile, or benchmarks where it ends in txt."""
    text = path.endswith("txt")
    kind, content = ("benchmark", OUTPUT) if text else ("profile", PROFILE)
    return Capture(path, kind, content, run, run_known)


@pytest.mark.parametrize(
    ("folders", "numbers"),
    [
        (("2", "10"), [2, 10]),
        (("run-07", "run-08"), [7, 8]),
        (("first", "second"), [1, 2]),
        (("a1", "b1"), [1, 2]),
        (("1", "warm"), [1, 2]),
    ],
)
def test_folders_are_runs(folders, numbers):
    """Numbers in names count where each run has its own."""
    captures = [
        of(f"out/{folder}/{file}", run, run_known=True)
        for run, folder in enumerate(folders)
        for file in ("bench.txt", "cpu.pb.gz")
    ]
    expected = [(n, f"out/{f}") for n, f in zip(numbers, folders, strict=True)]
    assert names(*captures) == expected


def test_numbered_files_are_runs_called_by_their_cpu_profile():
    captures = [of(f"x/{n}{i}.{e}") for i in (4, 12) for n, e in FILES]
    assert names(*captures) == [(4, "x/cpu4.pb.gz"), (12, "x/cpu12.pb.gz")]


FILES = ("bench", "txt"), ("cpu", "pb.gz")


def test_other_files_are_runs_in_their_order():
    assert names(of("b.txt"), of("a.txt")) == [(1, "b.txt"), (2, "a.txt")]
    assert names(of("cpu.pb.gz")) == [(1, "cpu.pb.gz")]


def test_a_folder_without_a_name_is_called_by_its_file():
    """Names without paths, as ``--no-paths`` leaves them."""
    captures = (
        of("cpu.pb.gz", 0, run_known=True),
        of("cpu.pb.gz (2)", 1, run_known=True),
    )
    assert names(*captures) == [(1, "cpu.pb.gz"), (2, "cpu.pb.gz (2)")]
