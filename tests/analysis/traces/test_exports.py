"""Exports are the profiles that ``go tool trace -pprof`` writes, sample for sample."""

from __future__ import annotations

import gzip
import re
from collections import defaultdict

import pytest
from msgspec.structs import replace

from pprofdiff.analysis.profiles.kinds import UNKNOWN_WAITS, kind_name
from pprofdiff.analysis.traces.profiles import DELAYS, EXPORTS, export
from pprofdiff.errors import UsageError
from pprofdiff.loaders.profiles import pprof
from pprofdiff.loaders.profiles.encode import encode
from pprofdiff.model.profiles.profile import ValueType
from tests.analysis import building
from tests.examples import daily
from tests.traces import oracle

from .real import CAPTURES, SIDES, path_of, trace_of
from .test_goroutines import ALL
from .ties import Ties

NOTHING = ("", "", 0)


def said(profile):
    """Return {stack of (function, file, line): [contentions, delay]}, leaf first.

    A stack of nothing but frames that say nothing is, for Go, one with no stack.
    """
    found = defaultdict(lambda: [0, 0])
    strings, places, functions = profile.strings, profile.locations, profile.functions
    frames = profile.frames()
    offsets, lines = frames.offsets, frames.line
    bounds = offsets.tolist()
    for i, (count, delay) in enumerate(profile.values.tolist()):
        stack = tuple(
            (
                strings[functions.name[places.line_function[at]]],
                strings[functions.filename[places.line_function[at]]],
                int(places.line_number[at]),
            )
            for at in lines[bounds[i] : bounds[i + 1]].tolist()
        )
        total = found[() if set(stack) == {NOTHING} else stack]
        total[0] += count
        total[1] += delay
    return dict(found)


def waits(got, kind):
    """Return {stack: [(start, end)]} by Go's transitions and the rules of its export."""
    wanted = {"syscall": "Syscall", "sched": "Runnable"}.get(kind, "Waiting")
    words = {"net": ("network",), "sync": ("chan", "sync", "select")}.get(kind, ("",))
    ran = {}
    for move in got["transitions"]:
        if move["scope"] == "goroutine" and move["from"] == "NotExist":
            ran.pop(move["id"], None)
        if move["scope"] == "goroutine" and (move["from"], move["to"]) != (
            "Running", "Running",
        ) and move["to"] == "Running":  # fmt: skip
            ran.setdefault(move["id"], move["time_ns"])
    found, begun = defaultdict(list), {}
    for move in got["transitions"]:
        if move["scope"] != "goroutine":
            continue
        start = begun.get(move["id"])
        if start is None:
            reason = move["reason"]
            fits = (
                reason == "network"
                if kind == "net"
                else any(w in reason for w in words)
            )
            if move["to"] == wanted and fits:
                begun[move["id"]] = move
        elif move["to"] != wanted:
            del begun[move["id"]]
            if move["time_ns"] > ran.get(move["id"], 0):
                frames = got["stacks"][start["stack"]]
                stack = tuple((f["func"], f["file"], f["line"]) for f in frames)
                stack = () if set(stack) == {NOTHING} else stack
                found[stack].append((start["time_ns"], move["time_ns"]))
    return found


@pytest.mark.matrix
@pytest.mark.go
@pytest.mark.parametrize("name", daily(ALL, [SIDES[0], "gc-1.26.8"]))
def test_exports_match_go(name):
    trace = trace_of(name)
    path = path_of(name)
    got, ties = oracle.transitions(path), Ties(path)
    for kind in EXPORTS:
        theirs = said(pprof.decode(gzip.decompress(oracle.profile(path, kind))))
        profile = export(trace, kind)
        ours = said(profile)
        assert len(ours) == len(profile), "samples of one stack are one"
        spans = waits(got, kind)
        assert ours.keys() == theirs.keys() == spans.keys(), kind
        for stack, (count, delay) in ours.items():
            held = spans[stack]
            slack = sum(int(ties.before(t)) for span in held for t in span)
            assert count == theirs[stack][0] == len(held)
            # The rules, by Go's own times, give Go's figures exactly; but what it reads
            # first of old traces it orders, and so times, anew in each run.
            ruled = sum(end - start for start, end in held)
            most = slack if trace.version < 22 else 0
            assert abs(theirs[stack][1] - ruled) <= most, (kind, stack)
            assert abs(delay - theirs[stack][1]) <= slack, (kind, stack)


@pytest.mark.go
def test_the_header_matches_go():
    name = CAPTURES[0]
    theirs = pprof.decode(gzip.decompress(oracle.profile(path_of(name), "sched")))
    ours = export(trace_of(name), "sched")
    for field in (
        "sample_types",
        "period_type",
        "period",
        "default_sample_type",
        "mappings",
    ):
        assert getattr(ours, field) == getattr(theirs, field)


@pytest.mark.parametrize("name", CAPTURES)
def test_an_export_is_known_by_its_stacks(name):
    trace = trace_of(name)
    for kind in EXPORTS:
        profile = export(trace, kind)
        assert kind_name(profile) == (kind if len(profile) else UNKNOWN_WAITS)


def test_exports_of_one_trace_are_not_added_up(tmp_path, cli):
    for word, name in zip(("base", "new"), CAPTURES[:2], strict=True):
        (tmp_path / word).mkdir()
        for kind in ("sched", "sync"):
            data = encode(export(trace_of(name), kind))
            (tmp_path / word / f"{kind[1:]}.pb").write_bytes(data)
    out = cli(tmp_path / "base", tmp_path / "new", "--work", "1000:1000").out
    assert "sync (delay), in " in out
    assert re.search(r" sched  [+−]", out)
    assert "added up" not in out
    assert "process lifetime" not in out
    # A trace's own span is unknown: a rate gives no operations.
    assert "µs/op" not in cli(tmp_path / "base", tmp_path / "new", "--rps", "9:9").out


def test_runnable_goroutines_wait_for_no_lock(tmp_path, cli):
    """The same stacks, as of a mutex's waiters and as of who unlocks it."""
    lock = "sync.(*Mutex).Lock", "main.(*Cache).Get", "main.worker"
    unlock = "sync.(*Mutex).Unlock", *lock[1:]
    types = tuple(DELAYS)
    for name, leaf in (("sync", lock), ("sched", unlock)):
        for word, seconds in (("base", 1), ("new", 9)):
            rows = [
                (list(leaf), (seconds, seconds * 10**9)),
                (["runtime.chanrecv1"], (1, 1)),
            ]
            made = building.profile(rows, types=types, duration_ns=None)
            made = replace(made, period_type=ValueType("trace", "count"), period=1)
            (tmp_path / f"{word}-{name}.pb").write_bytes(encode(made))
        sides = [tmp_path / f"{word}-{name}.pb" for word in ("base", "new")]
        out = cli(*sides, "--work", "1000:1000").out
        assert f"{name} (delay), in ms/op" in out
        assert ("Goroutines wait 9.00× as long for locks" in out) == (name == "sync")


def test_other_kinds_are_refused():
    with pytest.raises(UsageError, match="net, sync, syscall, sched"):
        export(trace_of(CAPTURES[0]), "cpu")
