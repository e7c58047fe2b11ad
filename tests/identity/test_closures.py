"""Closures that were renumbered: paired by what they are, not by what they are called."""

from __future__ import annotations

import gzip
import os
import subprocess
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.profiles.symbols import closures_of
from pprofdiff.identity.closures import NO_CLOSURES
from pprofdiff.identity.moves import NO_MOVES
from pprofdiff.loaders.profiles.pprof import decode
from pprofdiff.model.side import Capture, Side
from pprofdiff.report.json.profiles import profile_rows
from tests.analysis.building import compared, profile
from tests.identity.closure_oracle import VARIANTS, inputs, score


def placed(samples, lines):
    """Return a profile whose functions begin on the given lines."""
    made = profile(samples)
    start = [lines.get(name, 0) for name in made.function_names()]
    functions = replace(made.functions, start_line=np.array(start, np.int64))
    return replace(made, functions=functions)


def pairs(base, new):
    """Return base's name of each of new's closures, None where it has no partner."""
    rows = compared(base, new).table("functions")
    status = rows.status().tolist()
    return {
        name: (old or name) if state == 0 else None
        for name, old, state in zip(rows.names, rows.base_names, status, strict=True)
        if ".func" in name and state != 2
    }


def stack(closure, callee, line):
    """Return a stack: main.run calls a closure, which calls on its `line`."""
    return ((callee, "/src/main.go", 1), (closure, "/src/main.go", line), "main.run")


F = "main.run.func"


def test_a_closure_that_took_the_first_ones_name_is_new():
    base = placed(
        [(stack(f"{F}1", "main.a", 12), 40), (stack(f"{F}2", "main.b", 22), 40)],
        {"main.run": 5, f"{F}1": 10, f"{F}2": 20},
    )
    new = placed(
        [
            (stack(f"{F}1", "main.c", 11), 40),
            (stack(f"{F}2", "main.a", 18), 40),
            (stack(f"{F}3", "main.b", 28), 200),
        ],
        {"main.run": 5, f"{F}1": 10, f"{F}2": 16, f"{F}3": 26},
    )
    assert pairs(base, new) == {f"{F}1": None, f"{F}2": f"{F}1", f"{F}3": f"{F}2"}
    # The other way round it is gone.
    assert pairs(new, base) == {f"{F}1": f"{F}2", f"{F}2": f"{F}3"}


def test_equal_numbers_stay_where_closures_moved_as_a_whole():
    samples = [(stack(f"{F}{i}", f"main.{i}", 10 * i + 1), 40) for i in (1, 2)]
    there = {"main.run": 5, f"{F}1": 10, f"{F}2": 20}
    moved = [(stack(f"{F}{i}", f"main.{i}", 10 * i + 8), 40) for i in (1, 2)]
    below = {name: line + 7 for name, line in there.items()}
    base, new = placed(samples, there), placed(moved, below)
    assert pairs(base, new) == {f"{F}1": f"{F}1", f"{F}2": f"{F}2"}
    assert closures_of([base], [new], NO_MOVES) is NO_CLOSURES
    assert closures_of([base], [base], NO_MOVES) is NO_CLOSURES


def test_two_candidates_alike_are_none():
    base = placed([(stack(f"{F}1", "main.a", 11), 40)], {f"{F}1": 0})
    new = placed([(stack(f"{F}{i}", "main.a", 11), 40) for i in (2, 3)], {f"{F}1": 0})
    assert pairs(base, new) == {f"{F}2": None, f"{F}3": None}


@pytest.mark.parametrize(
    "name", ["main.Caller.run.func3", "main.(*T).Do.run.func7", "main.init.run.func1"]
)
def test_what_its_parent_was_inlined_into_does_not_matter(name):
    base = placed([(stack(f"{F}1", "main.a", 12), 40)], {f"{F}1": 10})
    new = placed([(stack(name, "main.a", 12), 40)], {name: 10})
    assert pairs(base, new) == {name: f"{F}1"}
    pair = (
        Side(label, (Capture(f"{label}.pb", "profile", one),))
        for label, one in (("base", base), ("new", new))
    )
    comparison = compare_sides(*pair)
    (document,) = profile_rows(comparison.profiles, comparison)
    by = {row["name"]: row["paired_by"] for row in document["functions"]}
    assert by[name] == "closure"


@pytest.mark.parametrize("variant", VARIANTS)
def test_hidden_closures_are_recognised(variant):
    """Those of five samples a side or more nearly all; few are paired wrongly."""
    total: Counter[str] = Counter()
    told: list = []
    # Few closures of this one are sampled on both sides: all captures are needed.
    every = variant == "and the last not sampled"
    for _, base, new in inputs(all_of_them=every):
        total += score(base, new, VARIANTS[variant], 1, told)
    right, missed = (total[f"{w} 20"] + total[f"{w} 5"] for w in ("right", "missed"))
    wrong = [one for one in told if one[0] != "missed" and min(one[-2:]) >= 5]
    assert right + missed >= 50
    assert len(wrong) <= 0.02 * right
    assert right >= 0.85 * (right + missed)


PROGRAM = """package main

import (
	"os"
	"runtime/pprof"
	"sort"
	"strings"
	"time"
)

var sink int

NOINLINE
func pipeline() []func([]string) {
	return []func([]string){
INSERTED		func(words []string) {
			for _, word := range words {
				sink += len(strings.ToUpper(word))
			}
		},
		func(words []string) {
			for i := 0; i < TIMES; i++ {
				for _, word := range words {
					sink += strings.Count(word, "ab")
				}
			}
		},
		func(words []string) {
			own := append([]string(nil), words...)
			sort.Strings(own)
			sink += len(own[0])
		},
	}
}

func main() {
	words := make([]string, 400)
	for i := range words {
		words[i] = strings.Repeat(string(rune('a'+i*7%26)), 40+i%9) + "ab"
	}
	steps := pipeline()
	pprof.StartCPUProfile(os.Stdout)
	for end := time.Now().Add(700 * time.Millisecond); time.Now().Before(end); {
		for _, step := range steps {
			step(words)
		}
	}
	pprof.StopCPUProfile()
}
"""
INSERTED = """		func(words []string) {
			for _, word := range words {
				sink += len(strings.Fields(word))
			}
		},
"""


@pytest.mark.go
def test_a_pipelines_closures_are_paired_the_same_in_each_capture(tmp_path):
    """A closure came before the others, and one of them does five times as much."""
    build = {"base": ("", "2", "//go:noinline"), "new": (INSERTED, "10", "")}
    for side, (inserted, times, inline) in build.items():
        (tmp_path / side).mkdir()
        text = PROGRAM.replace("INSERTED", inserted).replace("TIMES", times)
        text = text.replace("NOINLINE", inline)
        (tmp_path / side / "main.go").write_text(text)
        subprocess.run(
            ["go", "build", "-o", f"../{side}.exe", "main.go"],
            cwd=tmp_path / side,
            check=True,
            env={**os.environ, "GO111MODULE": "off"},
        )
    # In new, pipeline is inlined.
    old, name = "main.pipeline.func", "main.main.pipeline.func"
    wanted = {f"{name}{i}": f"{old}{i - 1}" for i in (2, 3, 4)}
    for _ in range(3):
        base, new = (
            decode(
                gzip.decompress(
                    subprocess.run(
                        [tmp_path / f"{side}.exe"], check=True, capture_output=True
                    ).stdout
                ),
                side,
            )
            for side in build
        )
        told = pairs(base, new)
        assert {n: told[n] for n in wanted} == wanted
        assert told.get(f"{name}1") is None
