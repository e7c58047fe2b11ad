"""What `load` makes of folders and of texts."""

from __future__ import annotations

import pytest

import pprofdiff


def test_a_folder_of_several_kinds_is_refused_in_one_short_line(syncpool):
    with pytest.raises(pprofdiff.IncompatibleProfilesError) as caught:
        pprofdiff.load(syncpool.base)
    said = str(caught.value)
    assert said.isprintable()
    assert len(said.removeprefix(str(syncpool.base))) < 160
    assert "load one file" in said
    assert "pprofdiff.compare(base, new)" in said
    assert all(kind in said for kind in ("allocs", "cpu", "heap"))


def test_a_folder_is_merged(syncpool, tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.pb.gz").write_bytes(
            (syncpool.base / "cpu.pb.gz").read_bytes()
        )
    one = pprofdiff.load(syncpool.base / "cpu.pb.gz")
    both = pprofdiff.load(tmp_path)
    assert (both.data.values.sum(axis=0) == 2 * one.data.values.sum(axis=0)).all()


@pytest.mark.parametrize(
    ("path", "kind", "rows"),
    [
        ("syncpool/base/gctrace.log", "GCLog", 72),
        ("zstd/new/bench.txt", "Benchmarks", 80),
        ("load/hey.txt", "LoadSummary", 2000),
    ],
)
def test_logs_load_as_what_they_are(data_folder, path, kind, rows):
    place = data_folder / path
    with place.open("rb") as file:
        loaded = [
            pprofdiff.load(x) for x in (place, str(place), place.read_bytes(), file)
        ]
    for log in loaded:
        assert type(log).__name__ == kind
        counted = {
            "GCLog": lambda held: len(held.data.cycles),
            "Benchmarks": lambda held: len(held.data.to_frame()),
            "LoadSummary": lambda held: held.data.requests,
        }[kind]
        assert counted(log) == rows
