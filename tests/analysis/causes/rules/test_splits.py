"""Functions that one side has in parts: programs built in one piece and in two."""

from __future__ import annotations

import gzip

import pytest

from pprofdiff.analysis.causes.table import find
from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.profiles.dimensions import owners_in_both
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import counted
from pprofdiff.loaders.profiles.pprof import decode
from pprofdiff.model.side import Capture, Side

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


@pytest.mark.parametrize("ways", [("whole", "parts"), ("parts", "whole")])
def test_code_that_moved_within_a_function_costs_what_it_did(ways):
    diff, found = compared(*map(profile, ways))
    assert {DIGEST, WORDS} <= set(diff.paired_functions.names)
    functions, profiles = diff.paired_functions, (diff.base.profile, diff.new.profile)
    for owners in owners_in_both(functions, profiles):
        assert WORDS not in {functions.names[row] for row in owners.tolist()}
    # No finding says that one is new, or gone, or costs more.
    for other in found.values():
        assert not {DIGEST, WORDS} & {*other.names, *other.functions}
