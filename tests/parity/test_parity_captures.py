"""Real captures: every flag, on one profile and on differences, byte for byte."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import pytest

from pprofdiff.errors import UsageError
from pprofdiff.loaders.profiles.pprof import decode
from pprofdiff.model.profiles.merge import merge
from tests.examples import daily
from tests.parity.pprof_oracle import ours, prepared, settled

DATA = Path(__file__).parents[1] / "data" / "syncpool"
KINDS = ("cpu", "allocs", "heap", "block", "mutex", "goroutine")
SIDES = (None, "diff_base", "base", "normalize")
# Flags that every kind of profile is tried with, and those that CPU profiles are.
COMMON = (
    {},
    {"sort": "cum"},
    {"sample_index": "0", "nodecount": 10},
    {"granularity": "lines", "nodefraction": 0.02},
    {"trim": False, "unit": "minimum", "drop_negative": True},
    {"peek": "runtime|sync"},
)
MORE = (
    {"nodecount": 7, "noinlines": True},
    {"nodefraction": 0.05},
    {"nodefraction": 0.0, "edgefraction": 0.02},
    {"trim": False},
    {"unit": "ms"},
    {"unit": "us", "sort": "cum", "nodecount": 20},
    {"unit": "auto"},
    {"drop_negative": True},
    {"focus": "strings|bytes"},
    {"focus": "runtime", "relative_percentages": True},
    {"ignore": r"runtime\."},
    {"hide": "^runtime"},
    {"show": "^example.com|^main"},
    {"show_from": "ingest"},
    {"focus": "ingest", "ignore": "malloc", "hide": "syncpool", "sort": "cum"},
    {"focus": "nowhere"},
    {"granularity": "filefunctions"},
    {"granularity": "files"},
    {"granularity": "lines", "sort": "cum", "noinlines": True},
    {"granularity": "addresses"},
    {"granularity": "addresses", "noinlines": True, "nodecount": 30},
    {"sample_index": "samples"},
    {"peek": "mallocgc$"},
    {"peek": ".", "granularity": "lines"},
    {"peek": "memmove", "sort": "cum", "focus": "ingest", "unit": "ms"},
)
TAGGED = (
    {"tagfocus": "pprof::base=true"},
    {"tagignore": "pprof::base"},
    {"tagfocus": "true,base", "relative_percentages": True},
)


def turned(kinds, sides, options):
    """Return all of them as cases; each option is tried daily on one side."""
    cases = [(kind, side, o) for kind in kinds for side in sides for o in options]
    kept = [
        case
        for i, case in enumerate(cases)
        if i % len(options) % len(sides) == i // len(options) % len(sides)
    ]
    return daily(cases, kept)


CASES = (
    turned(KINDS, SIDES, COMMON)
    + turned(("cpu",), SIDES, MORE)
    + turned(("cpu",), ("diff_base", "normalize"), TAGGED)
    + turned(KINDS, (None, "base"), ({"mean": True},))
    + turned(("heap",), (None, "base"), ({"tagfocus": "1kb:"}, {"tagfocus": ":64b"}))
)


def capture(side, kind):
    return decode(gzip.decompress((DATA / side / f"{kind}.pb.gz").read_bytes()))


@pytest.mark.matrix
@pytest.mark.parametrize(("kind", "side", "options"), CASES)
def test_the_text_matches_pprof(pprof, kind, side, options):
    options = dict(options)
    new, base = [capture("new", kind)], [capture("base", kind)] if side else []
    if side == "normalize":
        side, options["normalize"] = "diff_base", True
    want = pprof.text(new, base, side or "", **options)
    got = ours(new, base, side or "", **options)
    cum = options.get("sort") == "cum"
    assert settled(got, cum=cum) == settled(want, cum=cum)
    if "peek" not in options and options.get("granularity") != "files":
        assert got == want


@pytest.mark.matrix
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("side", ["diff_base", "base"])
@pytest.mark.parametrize("normalize", [False, True])
def test_samples_and_tables_match_pprof(pprof, kind, side, normalize):
    new, base = [capture("new", kind)], [capture("base", kind)]
    want = pprof.text(new, base, side, normalize=normalize, raw=True)
    merged = prepared(new, base, side, normalize=normalize)
    assert pprof.text([merged], raw=True) == want


@pytest.mark.parametrize("kind", KINDS)
def test_several_files_a_side_are_merged_as_pprof_merges_them(pprof, kind):
    new, base = capture("new", kind), capture("base", kind)
    want = pprof.text([new, base, new], raw=True)
    assert pprof.text([merge([new, base, new])], raw=True) == want


@pytest.mark.whole
def test_cpu_profiles_of_other_go_versions(pprof):
    folders = sorted((DATA.parent / "versions").iterdir())
    assert len(folders) > 1
    paths = [folder / "cpu.pb.gz" for folder in folders]
    profiles = [decode(gzip.decompress(p.read_bytes())) for p in paths]
    for new, base in zip(profiles[1:], profiles[:-1], strict=True):
        for options in ({}, {"granularity": "lines", "sort": "cum"}):
            want = pprof.text([new], [base], **options)
            assert ours([new], [base], **options) == want


@pytest.mark.parametrize(
    "zone", ["UTC", "America/New_York", "Asia/Kolkata", "Asia/Dubai"]
)
def test_the_time_matches_the_local_zone(pprof, monkeypatch, zone):
    new = capture("new", "cpu")
    want = pprof.run("-top", pprof.saved(new, "new0"), zone=zone).stdout
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        got = ours([new])
    finally:
        monkeypatch.undo()
        time.tzset()
    assert got == want


def test_peek_of_nothing_is_an_error_on_both_sides(pprof):
    new = capture("new", "cpu")
    done = pprof.run("-peek=nowhere", pprof.saved(new, "new0"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "no matches found for regexp: nowhere" in done.stderr
    with pytest.raises(UsageError, match="no matches found for regexp: nowhere"):
        ours([new], peek="nowhere")
