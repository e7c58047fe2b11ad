"""The diff as a profile: what Go's own pprof, and this program, read out of it."""

from __future__ import annotations

import re
import subprocess

import numpy as np
import pytest

from pprofdiff.analysis.profiles.rows import NO_STACK
from pprofdiff.api import diff, load
from pprofdiff.model.profiles.merge import BASE_LABEL, base_samples

UNITS = {"": 1, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "mins": 60e9}
UNITS |= {"B": 1, "kB": 2**10, "MB": 2**20, "GB": 2**30}
ROW = re.compile(
    r"^ *(-?[\d.]+)(\w*) +[\d.e-]+% +[\d.e-]+% +(-?[\d.]+)(\w*) +[\d.e-]+%  (.+?)(?: \((?:partial-)?inline\))?$",
    re.MULTILINE,
)


@pytest.fixture(params=["cpu", "heap", "mutex"])
def written(request, syncpool, tmp_path):
    """Return a comparison, and the file it wrote."""
    found = diff(*(p / f"{request.param}.pb.gz" for p in (syncpool.base, syncpool.new)))
    path = tmp_path / "diff.pb.gz"
    assert found.to_pprof(path) is None
    return found, path


def top(*words):
    """Return (flat, cum) by function, in raw units, as ``go tool pprof -top`` prints them."""
    done = subprocess.run(
        ["go", "tool", "pprof", "-top", "-nodecount=0", "-nodefraction=0", "-symbolize=none", *map(str, words)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {
        name: (float(f) * UNITS[fu], float(c) * UNITS[cu])
        for f, fu, c, cu, name in ROW.findall(done.stdout)
    }


@pytest.mark.go
def test_pprof_prints_the_rows_of_the_diff(written):
    found, path = written
    unit = {"nanoseconds": "ns", "bytes": "B"}[found.data.unit]
    printed = top(f"-unit={unit}", path)
    table = found.data.table("functions")
    # pprof pairs functions by name alone: rows paired under two names are two there.
    # It has no row for samples without any frame.
    deltas = (np.subtract(*table.raw(c)[::-1]).tolist() for c in ("flat", "cum"))
    mine = {
        n: (f, c)
        for n, b, f, c in zip(table.names, table.base_names, *deltas, strict=True)
        if b is None and n != NO_STACK
    }
    # pprof leaves out rows whose flat and cum are 0.
    moved = {n: row for n, row in mine.items() if row != (0, 0)}
    assert len(moved) > 20
    assert NO_STACK not in printed
    assert {n: printed[n] for n in moved} == moved
    assert {n for n in mine if n in printed} >= set(moved)


@pytest.mark.matrix
@pytest.mark.go
def test_pprof_prints_what_it_prints_of_the_two_profiles(written, syncpool):
    found, path = written
    base, new = (side.runs[0].path for side in (found.data.base, found.data.new))
    assert top(path) == top(f"-diff_base={base}", new)


def test_it_holds_both_sides_in_raw_numbers(written):
    found, path = written
    back = load(path)
    marked = base_samples(back.data)
    column = back.data.sample_types.index(found.data.sample_type)
    values = back.data.values[:, column]
    assert (int(-values[marked].sum()), int(values[~marked].sum())) == found.data.totals
    assert BASE_LABEL in back.data.strings


@pytest.mark.slow
def test_it_can_be_compared_again(cli, syncpool, tmp_path):
    path = tmp_path / "diff.pb.gz"
    sides = [side / "cpu.pb.gz" for side in (syncpool.base, syncpool.new)]
    first = cli(*sides, f"-o={path}", "--work=1000:1000").out
    again = cli(path, "--work=1000:1000")
    assert again.status == 0
    shown = [
        [line for line in out.splitlines() if line.startswith(("GC", "total", "User"))]
        for out in (first, again.out)
    ]
    assert shown[0] == shown[1] != []


@pytest.mark.slow
def test_a_share_is_written_as_pprof_normalizes(syncpool, tmp_path):
    base, new = (load(p / "cpu.pb.gz") for p in (syncpool.base, syncpool.new))
    path = tmp_path / "diff.pb.gz"
    diff(base, new, normalize=True).to_pprof(path)
    back = load(path)
    totals = back.data.values[:, 1].sum()
    assert abs(int(totals)) <= len(back)


@pytest.mark.go
def test_pprof_shows_the_verdict(cli, syncpool, tmp_path):
    path = tmp_path / "diff.pb.gz"
    sides = [side / "cpu.pb.gz" for side in (syncpool.base, syncpool.new)]
    rules = {
        "group:gc:+2pp": "fail",
        "group:alloc:+60%": "pass",
        "group:alloc:+5%": "cannot tell",
        "bench:allocs/op:+0%": "no data",
    }
    words = [f"--fail-on={rule}" for rule in rules]
    assert cli(*sides, *words, "-q", "-o", path).status == 1
    first, *got = subprocess.run(
        ["go", "tool", "pprof", "-comments", path],
        capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    assert first == "Verdict: fail: 1 of 4 rules tripped, 1 cannot tell, 1 without data"
    for line, (rule, outcome) in zip(got, rules.items(), strict=True):
        assert line.startswith(f"{outcome}: {rule}: ")
        assert f"; limit {rule.rpartition(':')[2]}" in line
    # Without rules there is no comment.
    cli(*sides, "-o", path, "-q")
    assert load(path).data.comments == ()
