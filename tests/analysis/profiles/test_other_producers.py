"""Profiles of producers other than Go: `tests/data/node` is of Node.js (work.js)."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import pprofdiff
from pprofdiff.analysis.profiles.kinds import is_of_go
from pprofdiff.loaders.profiles.encode import encode
from pprofdiff.model.profiles.profile import ValueType
from tests.conftest import DATA

NODE, DONE = DATA / "node", {"base": 6707, "new": 2250, "same": 5951}


def read(name):
    return pprofdiff.load(NODE / f"{name}.pb.gz")


def marks(diff):
    """Return the functions that moved beyond noise."""
    table = diff.functions
    return set(table.index[~table["noise_cum"].to_numpy(bool)])


def test_values_that_are_multiples_of_the_period_are_judged():
    base, new = read("base"), read("new")
    moved = marks(new - base)
    assert {"dearer", "parse"} <= moved


def test_two_runs_of_one_program_are_within_noise():
    assert marks(read("same") - read("base")) == set()


def test_counts_of_samples_are_judged_too():
    diff = pprofdiff.diff(read("base"), read("new"), sample_type="sample")
    assert diff.data.model is not None
    assert diff.data.model.base_step == pytest.approx(
        diff.data.normalization.factors[0]
    )


@pytest.fixture
def as_cpu(tmp_path):
    """Return a function: write a capture as one of CPU time; its path."""

    def write(name):
        profile = read(name).data
        cpu = ValueType("cpu", "nanoseconds")
        types = (ValueType("samples", "count"), cpu)
        path = tmp_path / f"{name}.pb"
        path.write_bytes(encode(replace(profile, sample_types=types, period_type=cpu)))
        return str(path)

    return write


GO = r"(?i)\bgo\b|goroutine|runtime\b|mallocgc|mark assist|scheduler|gcBg|--explain gc"


def test_rules_that_need_no_go_run_and_no_word_is_of_go(cli, as_cpu):
    work = f"{DONE['base']}:{DONE['new']}"
    short = cli(as_cpu("base"), as_cpu("new"), "--work", work).out
    assert not re.search(GO, short)
    out = cli(as_cpu("base"), as_cpu("new"), "--work", work, "--full").out
    told = out.partition("\nWhy")[2].partition("\nGot slower")[0]
    assert "× the CPU" in told
    assert "▲" in out
    assert not re.search(GO, out)
    assert "ms/op" in out


def test_wall_time_is_no_waiting_and_no_word_is_of_go(cli):
    for full in ((), ("--full",)):
        out = cli(str(NODE / "base.pb.gz"), str(NODE / "new.pb.gz"), *full).out
        assert "waited" not in out
        assert not re.search(GO, out)


def test_work_is_what_values_are_by(cli):
    work = f"{DONE['base']}:{DONE['new']}"
    diff = pprofdiff.diff(read("base"), read("new"), work=(DONE["base"], DONE["new"]))
    totals = [int(np.sum(read(n).data.values[:, 1])) for n in ("base", "new")]
    scaled = diff.data.normalization.scaled(*totals)
    assert scaled == pytest.approx((totals[0] / DONE["base"], totals[1] / DONE["new"]))
    assert "per op" in cli(
        str(NODE / "base.pb.gz"), str(NODE / "new.pb.gz"), "--work", work
    ).out.replace("\n", " ")


def test_a_profile_of_go_is_known():
    assert not is_of_go(read("base").data)
    for kind in ("cpu", "heap", "goroutine"):
        profile = pprofdiff.load(DATA / "zstd" / "base" / f"{kind}.pb.gz").data
        assert is_of_go(profile)
