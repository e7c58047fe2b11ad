"""Packages under another import path: recognised as a whole, or not at all."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise, product

import numpy as np
import pytest

from pprofdiff.analysis.causes.table import find
from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.identity.deciding import identify
from pprofdiff.identity.evidence import SideEvidence
from pprofdiff.identity.moves import package_moves
from pprofdiff.model.side import Capture, Side
from pprofdiff.report.json.profiles import profile_row
from tests.analysis.building import profile
from tests.examples import daily
from tests.field.__main__ import kept_aside
from tests.identity.captures import TESTS, load

FIELD, DATA = TESTS / "field" / "pairs", TESTS / "data"
CACHE = ("(*Cache).Add", "(*Cache).Get", "(*Cache).evict", "newList", "New")
DIGEST = ("(*digest).Write", "(*digest).Sum", "(*digest).Reset", "New")


def files(package, functions, file="a.go"):
    """Return source files by symbol, as one side shows them."""
    return {f"{package}.{name}": f"/src/{package}/{file}" for name in functions}


def moved(base, new):
    """Return (base, new) paths of the packages that moved, the same swapped."""
    there = {move[:2] for move in package_moves(base, new).packages}
    assert {move[:2] for move in package_moves(new, base).packages} == {
        pair[::-1] for pair in there
    }
    return there


@pytest.mark.parametrize(
    ("base", "new"),
    [
        ("github.com/acme/lru", "example.com/fork/cache"),
        ("github.com/acme/lru", "github.com/acme/internal/lru"),
        ("gopkg.in/lru.v2", "example.com/app/third_party/lru"),
        ("encoding/json", "github.com/fork/json"),
    ],
)
def test_a_package_whose_functions_are_called_alike_moved(base, new):
    assert moved(files(base, CACHE), files(new, CACHE)) == {(base, new)}
    assert moved(files(base, CACHE), files(new, CACHE[1:])) == {(base, new)}


@pytest.mark.parametrize(
    ("base", "new"),
    [
        ("github.com/acme/lru", "github.com/acme/lru/v2"),
        ("github.com/acme/lru/v2/list", "github.com/acme/lru/v10/list"),
        ("gopkg.in/lru.v2", "gopkg.in/lru.v3"),
        ("gopkg.in/lru%2ev2", "gopkg.in/lru%2ev3"),
    ],
)
def test_one_function_shows_a_major_version(base, new):
    one, other = files(base, ["New", "Old"]), files(new, ["New", "Later"])
    assert moved(one, other) == {(base.replace("%2e", "."), new.replace("%2e", "."))}
    assert moved(one, files(new, ["Later"])) == set()


def test_packages_of_a_module_move_with_it():
    base = files("github.com/acme/kv", CACHE) | files(
        "github.com/acme/kv/wal", ["Open"]
    )
    new = files("example.com/kv2", CACHE) | files("example.com/kv2/wal", ["Open"])
    assert moved(base, new) == {
        ("github.com/acme/kv", "example.com/kv2"),
        ("github.com/acme/kv/wal", "example.com/kv2/wal"),
    }


@pytest.mark.parametrize(
    ("base", "new"),
    [
        # Too few names, or too small a part of the smaller side's.
        (files("github.com/a/x", CACHE[:2]), files("github.com/b/y", CACHE)),
        (
            files("github.com/a/x", (*CACHE[:3], "f1", "f2", "f3")),
            files("github.com/b/y", (*CACHE[:3], "g1", "g2", "g3")),
        ),
        # A library in another one's place: the same public functions.
        (
            files("gopkg.in/yaml.v3", ("Marshal", "Unmarshal", "(*Decoder).Decode")),
            files("github.com/b/yaml", ("Marshal", "Unmarshal", "(*Decoder).Decode")),
        ),
        # One interface, implemented twice: by one owner, and by two.
        (files("golang.org/x/md4", DIGEST), files("golang.org/x/ripemd", DIGEST)),
        (
            files("github.com/a/md4", DIGEST, "md4.go"),
            files("github.com/b/xxh", DIGEST, "xxh.go"),
        ),
        # Two candidates alike.
        (
            files("github.com/a/x", CACHE),
            files("github.com/b/x", CACHE) | files("github.com/c/x", CACHE),
        ),
        # It is still there.
        (
            files("github.com/a/x", (*CACHE, "f", "g", "h")),
            files("github.com/a/x", ("f", "g", "h")) | files("github.com/b/x", CACHE),
        ),
        # Within the standard library functions are copied.
        (files("strings", CACHE), files("bytes", CACHE)),
        (files("reflect", CACHE), files("internal/reflectlite", CACHE)),
        (files("math/rand", CACHE), files("math/rand/v2", CACHE)),
    ],
)
def test_packages_that_did_not_move(base, new):
    assert moved(base, new) == set()


def program_pairs():
    """Yield both sides of each pair of captures with CPU profiles.

    Pairs that the field test keeps aside are left out.
    """
    for name in sorted(path.parent.name for path in FIELD.glob("*/pair.toml")):
        if not kept_aside(name):
            yield FIELD / name / "base", FIELD / name / "new"
    for base in sorted(DATA.glob("*/base")):
        yield base, base.parent / "new"
    yield from pairwise(sorted((DATA / "versions").iterdir()))


def source_files(folder):
    """Return the source file of every function of a folder's profiles."""
    evidence = SideEvidence(load(folder))
    return dict(zip(evidence.names, evidence.files, strict=True))


# What moved between captures of different programs that use one library.
REAL = {
    "gopkg.in/yaml.v3": "example.com/acme/config/yaml",
    "github.com/tidwall/gjson": "example.com/acme/records",
    "github.com/yuin/goldmark": "example.com/acme/text/md",
    "github.com/hashicorp/golang-lru": "github.com/hashicorp/golang-lru/v2",
    "github.com/hashicorp/golang-lru/v2": "github.com/hashicorp/golang-lru",
    "github.com/pelletier/go-toml": "github.com/pelletier/go-toml/v2",
}


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize("step", daily((1, 4), [4]))
def test_between_many_unlike_programs_only_copies_and_versions_moved(step):
    """Every base next to every new: real libraries in the place of one another."""
    sides = [
        (source_files(base), source_files(new))
        for base, new in program_pairs()
        if (base / "cpu.pb.gz").exists() and (new / "cpu.pb.gz").exists()
    ]
    assert len(sides) > 40
    seen: set[tuple[str, str]] = set()
    for (base, _), (_, new) in product(sides[::step], sides):
        seen.update(move[:2] for move in package_moves(base, new).packages)
    modules = {
        old: old[: len(module)]
        for old, _ in seen
        for module in REAL
        if old == module or old.startswith(f"{module}/")
    }
    assert {old for old, _ in seen} == set(modules)
    assert {
        (old, REAL[modules[old]] + old[len(modules[old]) :]) for old, _ in seen
    } == seen
    assert len(set(modules.values())) > 1
    assert step > 1 or set(modules.values()) == set(REAL)


OLD, NOW = "github.com/acme/lru", "github.com/acme/lru/v2"


def sides():
    """Return two builds that differ in the major version of a module, now generic."""
    calls = [
        ("(*Cache).Add", "(*Cache[...]).Add", 30, 31),
        ("(*Cache).Get", "(*Cache[...]).Get", 50, 49),
        ("(*Cache).Get.func1", "(*Cache[...]).Get.func1", 20, 22),
        ("(*Cache).Get.func2", "(*Cache[...]).Get.func2", 9, 7),
    ]
    base = profile([((f"{OLD}.{b}", "main.main"), n) for b, _, n, _ in calls])
    new = profile([((f"{NOW}.{n}", "main.main"), count) for _, n, _, count in calls])
    wanted = {
        f"{NOW}.{now}": (f"{OLD}.{old}", was, is_) for old, now, was, is_ in calls
    }
    pair = (
        Side(label, (Capture(f"{label}.pb", "profile", one),))
        for label, one in (("base", base), ("new", new))
    )
    return (*pair, wanted)


def test_what_moved_is_one_row_everywhere_but_in_pprofs_reports():
    base, new, wanted = sides()
    comparison = compare_sides(base, new)
    (diff,) = comparison.profiles
    table = diff.table("functions")
    assert {"both"} == set(table.to_frame()["status"])
    worth = 10_000_000
    rows = zip(table.names, table.base_names, *table.raw("flat"), strict=True)
    assert {
        name: (was, int(old) // worth, int(now) // worth)
        for name, was, old, now in rows
        if name != "main.main"
    } == wanted
    for level in ("functions", "packages", "stacks"):
        status = diff.table(level).status()
        assert not np.any(status), level
    document = profile_row(diff)
    by = {row["name"]: row["paired_by"] for row in document["functions"]}
    assert by == {**dict.fromkeys(wanted, "package"), "main.main": "name"}
    found = {finding.id: finding for finding in find(comparison).found}
    assert found["package-moved"].severity == "info"
    assert found["package-moved"].title == (f"3 functions moved from {OLD} to {NOW}")
    assert "place" not in found


@pytest.mark.slow
def test_pprofs_own_reports_keep_both_names():
    folder = FIELD / "yaml-moved"
    command = [sys.executable, "-m", "pprofdiff", "-top", "-diff_base=base/cpu.pb.gz"]
    done = subprocess.run(
        [*command, "new/cpu.pb.gz"],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    for path in ("gopkg.in/yaml%2ev3.", "example.com/acme/config/yaml."):
        assert f"{path}(*decoder).scalar\n" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("base", "new", "by"),
    [
        ("main.F", "main.F", "name"),
        ("runtime.scanobject", "runtime.scanObject", "alias"),
        ("main.Map[go.shape.int]", "main.Map[go.shape.string]", "type_arguments"),
        ("a/x.F", "a/x/v2.F", "package"),
    ],
)
def test_by_what_a_function_is_paired(base, new, by):
    sides = [profile([((name, "main.main"), 50)]) for name in (base, new)]
    assert identify(sides[:1], sides[1:]).pair(base, new).by == by
