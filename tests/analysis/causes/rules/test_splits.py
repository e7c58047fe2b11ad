"""Functions that one side has in parts: programs built in one piece and in two."""

from __future__ import annotations

import gzip
import json
import re

import pytest

from pprofdiff.analysis.causes.table import find
from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import counted
from pprofdiff.loaders.profiles.encode import encode
from pprofdiff.loaders.profiles.pprof import decode
from pprofdiff.model.side import Capture, Side
from tests.building import cpu

from .capture import profile_of

DIGEST, WORDS = "main.(*counter).digest", "main.(*counter).words"


def profile(how):
    """Return the CPU profile of a program by how it is written."""
    return decode(gzip.decompress(profile_of(how).read_bytes()), how)


def compared(base, new):
    """Return two profiles of equal work compared, and what is found, by id."""
    sides = [
        Side(label, (Capture(f"{label}.pb.gz", "profile", profile),))
        for label, profile in (("base", base), ("new", new))
    ]
    comparison = compare_sides(*sides, Settings(work=counted((1, 1))))
    found = {f.id: f for f in find(comparison).found}
    diff = next(d for d in comparison.profiles if d.is_cpu)
    return diff, found


@pytest.mark.parametrize("id_", ["split", "joined"])
def test_code_that_moved_within_a_function_costs_what_it_did(id_):
    ways = ("whole", "parts") if id_ == "split" else ("parts", "whole")
    diff, found = compared(*map(profile, ways))
    finding = found[id_]
    assert (finding.severity, finding.direction) == ("info", "neutral")
    assert finding.functions == (DIGEST, WORDS)
    # The sum is that of the flats, exactly.
    flats = {
        name: (base, new)
        for name, base, new in zip(
            diff.table().names, *(c.tolist() for c in diff.table().raw("flat")),
            strict=True,
        )
    }  # fmt: skip
    (split,) = diff.splits
    assert split.whole == tuple(flats[DIGEST][s] + flats[WORDS][s] for s in (0, 1))
    assert [(f.base, f.new) for f in finding.evidence] == [flats[DIGEST], flats[WORDS]]
    # Nothing else tells it as work that is new, or gone, or dearer.
    for other in found.values():
        assert other is finding or not {DIGEST, WORDS} & {
            *other.names,
            *other.functions,
        }


def test_tables_say_of_what_a_function_is_a_part(cli, tmp_path):
    whole, parts = cpu(WHOLE), cpu(REST | {"main;p/a.F": 400, "main;p/a.F;p/a.G": 790})
    for name, profile in (("base.pb", whole), ("new.pb", parts)):
        (tmp_path / name).write_bytes(encode(profile))
    page = tmp_path / "x.json"
    done = cli(tmp_path / "base.pb", tmp_path / "new.pb", "--work=1:1", "-o", page)
    assert done.status == 0
    told = "a.G is new inside a.F, whose own CPU fell as much: together 1.200 → 1.190 s"
    assert told in " ".join(done.out.split())
    assert re.search(r"a\.G +\(part of a\.F\)", done.out)
    rows = json.loads(page.read_text("utf-8"))["comparisons"][0]["functions"]
    assert {r["name"]: r["part_of"] for r in rows if "part_of" in r} == {
        "p/a.G": "p/a.F"
    }


def split(base, new):
    """Return what new has in parts, or base the other way round: (whole, parts, sums)."""
    there, _ = compared(cpu(base), cpu(new))
    back, _ = compared(cpu(new), cpu(base))
    told = [
        [(d.paired_functions.names[s.function],
          {d.paired_functions.names[p] for p in s.parts}, s.whole[::way])
         for s in d.splits]
        for d, way in ((there, 1), (back, -1))
    ]  # fmt: skip
    assert told[0] == told[1]
    assert {s.side for s in there.splits} <= {1}
    assert {s.side for s in back.splits} <= {0}
    return told[0]


REST = {"main;p/a.Other": 2000}
WHOLE = REST | {"main;p/a.F": 1200}
MS = 1_000_000


def test_parts_of_parts_count_and_recursion_is_no_caller():
    parts = REST | {"main;p/a.F": 400, "main;p/a.F;p/a.G": 390,
                    "main;p/a.F;p/a.G;p/a.G;p/a.H": 420}  # fmt: skip
    assert split(WHOLE, parts) == [
        ("p/a.F", {"p/a.G", "p/a.H"}, (1200 * MS, 1210 * MS))
    ]


@pytest.mark.parametrize(
    "new",
    [
        {"main;p/a.F": 400, "main;p/a.F;p/b.G": 800},
        {"main;p/a.F": 400, "main;p/a.F;p/a.G": 600, "main;p/a.Other;p/a.G": 200},
        {"main;p/a.F": 400, "main;p/a.F;p/a.G": 300, "main;p/a.F;strconv.Itoa": 500},
        {"main;p/a.F": 1200, "main;p/a.F;p/a.G": 800},
        {"main;p/a.F": 100, "main;p/a.F;p/a.G": 300},
        {"main;p/a.F": 400, "main;p/a.F;p/a.G": 1600},
        {"main;p/a.F": 400, "main;p/a.F;strings.Index": 800},
    ],
    ids=["another-package", "called-by-others", "mostly-elsewhere", "only-more",
         "cheaper", "dearer", "a-library"],
)  # fmt: skip
def test_what_is_no_part(new):
    assert split(WHOLE, REST | new) == []
