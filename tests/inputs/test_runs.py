"""Several runs a side: folders of folders, and files with numbers."""

from __future__ import annotations

import shutil

import pytest

from pprofdiff.analysis.side import numbered
from pprofdiff.errors import FormatError
from pprofdiff.inputs.sides import load_sides
from tests.field.capture import PAIRS

PAIR = PAIRS / "same-quiet-bench"


def runs_of(folder):
    """Return (run, name of file) of what a folder holds."""
    side = numbered(load_sides([], [str(folder)]).new)
    return sorted((c.run, c.path.removeprefix(f"{folder}/")) for c in side.captures)


def put(folder, *names, of="base"):
    """Copy captures of one run into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copy(
            PAIR / of / name.partition(":")[0], folder / name.rpartition(":")[2]
        )


def test_each_folder_is_a_run_in_the_order_of_their_numbers(tmp_path):
    for run in (1, 2, 10):
        put(tmp_path / f"run{run}", "cpu.pb.gz", "bench.txt")
    put(tmp_path / "run2", "allocs.pb.gz")
    assert runs_of(tmp_path) == [
        (0, "run1/bench.txt"), (0, "run1/cpu.pb.gz"),
        (1, "run2/allocs.pb.gz"), (1, "run2/bench.txt"), (1, "run2/cpu.pb.gz"),
        (2, "run10/bench.txt"), (2, "run10/cpu.pb.gz"),
    ]  # fmt: skip


def test_folders_next_to_files_are_left_alone(tmp_path):
    put(tmp_path, "cpu.pb.gz")
    put(tmp_path / "old", "cpu.pb.gz")
    assert runs_of(tmp_path) == [(0, "cpu.pb.gz")]


def test_a_run_without_captures_is_none(tmp_path):
    put(tmp_path / "1", "cpu.pb.gz")
    (tmp_path / "2").mkdir()
    (tmp_path / "2" / "notes.md").write_text("nothing to see")
    put(tmp_path / "3", "cpu.pb.gz")
    assert runs_of(tmp_path) == [(0, "1/cpu.pb.gz"), (1, "3/cpu.pb.gz")]


def test_a_folder_within_a_run_is_a_unit_of_it(tmp_path):
    """A benchmark in a process of its own leaves one; what is deeper is not read."""
    for run in ("1", "2"):
        put(tmp_path / run, "bench.txt")
        for unit in ("BenchmarkA", "BenchmarkB"):
            put(tmp_path / run / unit, "cpu.pb.gz")
    put(tmp_path / "2" / "BenchmarkA" / "deeper", "allocs.pb.gz")
    side = numbered(load_sides([], [str(tmp_path)]).new)
    got = [(c.run, c.unit, c.path.removeprefix(f"{tmp_path}/")) for c in side.captures]
    assert sorted(got) == [
        (run, unit, f"{run + 1}/{unit}/{name}".replace("//", "/"))
        for run in (0, 1)
        for unit, name in (
            ("", "bench.txt"), ("BenchmarkA", "cpu.pb.gz"), ("BenchmarkB", "cpu.pb.gz"),
        )
    ]  # fmt: skip


def test_the_folder_of_one_run_has_its_benchmarks(tmp_path):
    put(tmp_path, "bench.txt")
    put(tmp_path / "BenchmarkA", "cpu.pb.gz")
    side = load_sides([], [str(tmp_path)]).new
    assert {(c.run, c.unit) for c in side.captures} == {(0, ""), (0, "BenchmarkA")}


def test_folders_without_any_capture_are_refused(tmp_path):
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "notes.md").write_text("nothing to see")
    with pytest.raises(FormatError, match="nothing in this folder can be compared"):
        runs_of(tmp_path)


def test_numbers_in_names_say_what_belongs_together(tmp_path):
    for number in (1, 3, 12):
        put(tmp_path, f"cpu.pb.gz:cpu{number}.pb.gz")
    put(tmp_path, "allocs.pb.gz:allocs3.pb.gz", "allocs.pb.gz:allocs12.pb.gz")
    assert runs_of(tmp_path) == [
        (0, "cpu1.pb.gz"),
        (1, "allocs3.pb.gz"), (1, "cpu3.pb.gz"),
        (2, "allocs12.pb.gz"), (2, "cpu12.pb.gz"),
    ]  # fmt: skip


def test_names_without_numbers_are_runs_in_their_order(tmp_path):
    put(tmp_path, "cpu.pb.gz:cpu-a.pb.gz", "cpu.pb.gz:cpu-b.pb.gz", "allocs.pb.gz")
    assert runs_of(tmp_path) == [
        (0, "allocs.pb.gz"), (0, "cpu-a.pb.gz"), (1, "cpu-b.pb.gz")]  # fmt: skip
