"""Waiting goroutines and the heap are charged to the program, not to the runtime."""

from __future__ import annotations

import re

import pytest

from tests.field.capture import PAIRS


def most(text):
    """Return the function of the first row of a table of what changed most."""
    head, *rows = text.partition("What changed most (cum)\n")[2].splitlines()
    assert head.endswith("function")
    return re.split(r"\s{2,}", rows[0].partition("%")[2].strip())[0]


@pytest.mark.parametrize(
    ("pair", "function"),
    [
        ("goroutine-leak-chi-goroutine-alone", "main.refresh"),
        ("goroutine-leak-gin", "main.ask"),
        ("goroutine-leak-profiled", "main.(*carrier).answer"),
    ],
)
def test_goroutines_wait_in_the_program(cli, pair, function):
    paths = [str(PAIRS / pair / side / "goroutine.pb.gz") for side in ("base", "new")]
    assert most(cli(*paths).out).startswith(function)
    full = cli(*paths, "--full").out
    assert function in full
    assert "runtime.gopark" not in full


def test_a_glance_names_the_program(cli):
    pair = PAIRS / "goroutine-leak-profiled"
    out = cli(str(pair / "base"), str(pair / "new")).out
    assert re.search(r"goroutine  \+[\d,]+ cum  main\.\(\*carrier\)\.answer", out)


def test_what_the_runtime_alone_allocates_is_named_by_what_it_is(cli):
    paths = [
        str(PAIRS / "goroutine-leak-gin" / side / "heap.pb.gz")
        for side in ("base", "new")
    ]
    out = cli(*paths, "--full").out
    assert re.search(r"1\.09k → 123k .*runtime\.malg  \(goroutine descriptors\)", out)
    assert "mallocgc" not in out
