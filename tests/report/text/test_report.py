"""The text report in full: as it was last looked at, and where there is nothing."""

from __future__ import annotations

import pytest

from pprofdiff.loaders.profiles.encode import encode
from tests.analysis.building import profile
from tests.report.golden import check

SYNCPOOL = ["main=syncpool/base/{}", "pr=syncpool/new/{}"]
RSS_SEARCH = ["rss-search/base/{}", "rss-search/new/{}"]
ZSTD = ["zstd/base/{}", "zstd/new/{}"]
VERSIONS = ["versions/go1.20/{}", "versions/go1.27/{}"]
PUBLISHED = [
    "none=sync-pool-gctrace/none-pool.log{}",
    "pool=sync-pool-gctrace/sync-pool.log{}",
]
CASES = {
    "cpu": (SYNCPOOL, "cpu.pb.gz", []),
    "cpu.work": (SYNCPOOL, "cpu.pb.gz", ["--work=10088400:8579600"]),
    "cpu.normalize": (SYNCPOOL, "cpu.pb.gz", ["-normalize"]),
    "cpu.focus": (SYNCPOOL, "cpu.pb.gz", ["-focus=mallocgc"]),
    "cpu.samples": (SYNCPOOL, "cpu.pb.gz", ["-sample_index=samples"]),
    "cpu.explain-mark": (SYNCPOOL, "cpu.pb.gz", ["-explain=gc.mark"]),
    "cpu.explain-function": (SYNCPOOL, "cpu.pb.gz", ["-explain=lineproto.parseTags$"]),
    "cpu.lines": (RSS_SEARCH, "cpu.pb.gz", ["-lines"]),
    "cpu.files": (RSS_SEARCH, "cpu.pb.gz", ["-files"]),
    "cpu.same": (["syncpool/base/{}", "syncpool/base/{}"], "cpu.pb.gz", []),
    "allocs.work": (SYNCPOOL, "allocs.pb.gz", ["--work=13146800:11445600"]),
    "heap": (SYNCPOOL, "heap.pb.gz", []),
    "block.work": (SYNCPOOL, "block.pb.gz", ["--work=13146800:11445600"]),
    "mutex": (SYNCPOOL, "mutex.pb.gz", []),
    "goroutine": (SYNCPOOL, "goroutine.pb.gz", []),
    "folder.work": (SYNCPOOL, "", ["--work=10088400:8579600"]),
    "zstd.cpu.work": (ZSTD, "cpu.pb.gz", ["--work=9059:732056"]),
    "node-pool.cpu": (["node-pool/base/{}", "node-pool/new/{}"], "cpu.pb.gz", []),
    "versions.cpu.joined": (VERSIONS, "cpu.pb.gz", ["-joined"]),
    "unchanged.cpu": (["unchanged/run1/{}", "unchanged/run2/{}"], "cpu.pb.gz", []),
    "zstd.folder": (ZSTD, "", []),
    "pair": (["zstd/new/{}"], "bench.txt", ["--pair", "suffix=Old"]),
    "gctrace.published": (PUBLISHED, "", []),
    "gctrace.published.rps": (PUBLISHED, "", ["--rps=322108:280371"]),
    "gctrace.published.window": (PUBLISHED, "", ["--window=10:40"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_as_it_was_last_looked_at(cli, data_folder, monkeypatch, name):
    monkeypatch.chdir(data_folder)
    places, kind, words = CASES[name]
    full = [] if any(word.startswith("-explain") for word in words) else ["--full"]
    places = [place.format(kind).rstrip("/") for place in places]
    done = cli(*places, *words, *full)
    assert (done.status, done.err) == (0, "")
    check(name, done.out)


def test_explain_needs_cpu_time(cli, syncpool):
    done = cli(
        syncpool.base / "heap.pb.gz", syncpool.new / "heap.pb.gz", "--explain=gc"
    )
    assert (done.status, done.out) == (2, "")
    assert "CPU profile" in done.err


def test_an_empty_profile_is_said_to_be_empty(cli, tmp_path):
    sound, empty = (tmp_path / name for name in ("sound.pb.gz", "empty.pb.gz"))
    sound.write_bytes(encode(profile([(("main.f",), 900)])))
    empty.write_bytes(encode(profile([])))
    for sides, said in (((sound, empty), "new"), ((empty, sound), "base")):
        out = cli(*sides).out
        assert f"\n{said} has no samples: there is nothing to compare.\n" in out
        assert "must change by" not in out
