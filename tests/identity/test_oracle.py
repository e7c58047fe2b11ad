"""Functions of another name are paired right or not at all; and the oracle sees it."""

from __future__ import annotations

import random
import re
from collections import Counter

import numpy as np
import pytest

from pprofdiff.identity.deciding import identify
from pprofdiff.loaders.profiles.encode import encode
from tests.examples import daily
from tests.identity.captures import (
    ASIDE,
    NOT_DRAWN,
    PAIRS,
    SAME_BUILD,
    cpu_samples,
    hash_of,
    load,
)
from tests.identity.edits import VARIANTS, Edit, Subject, edited
from tests.identity.oracle import (
    NOTHING,
    Score,
    case_of,
    judge,
    misses,
    score_as_it_is,
    score_pair,
)
from tests.identity.real_cases import real_cases
from tests.repository import go

BY_NAME = {pair.name: pair for pair in PAIRS}
SMALL = [
    BY_NAME[name]
    for name in (
        "go1.25-go1.26",
        "fresh-lua-dearer",
        "heap-leak-chi",
        "lock-held-longer-gin",
    )
]


PACKAGES = ("package renamed (shift, noise, 10 %)", "major version /vN")


@pytest.fixture(scope="module")
def scores():
    """Return the scores of a few pairs by variant."""
    total = {variant: Score() for variant in VARIANTS}
    for pair in SMALL:
        for variant, score in score_pair(pair).items():
            total[variant] += score
    return total


@pytest.fixture(scope="module")
def cases():
    """Return a few pairs as they are."""
    return [case_of(pair, identify) for pair in SMALL]


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
def test_what_is_paired_is_right(scores, variant):
    missed = misses(variant, scores[variant])
    assert "precision" not in missed, scores[variant].wrong
    if variant in PACKAGES:
        assert missed == []


@pytest.mark.slow
def test_captures_of_one_build_are_paired_by_name():
    for pair in SAME_BUILD:
        if pair.program not in ASIDE:
            assert score_as_it_is(pair)[NOTHING].wrong == []


class Told:
    """An identity that is asked who each function is."""

    def __init__(self, partners):
        self.partners = partners

    def base_of(self, symbol):
        """Return base's function, None for none."""
        return self.partners.get(symbol)


def by_variant(case, variant):
    """Return a variant's edits, and the truth: base's name of each name of new."""
    edits = VARIANTS[variant](case.subject, random.Random(f"{case.pair.name} 0"))
    base = case.subject.names[0] - edits[0].gone
    new = case.subject.names[1] - edits[1].gone
    return edits, {edits[1].names.get(n, n): n for n in new if n in base}


@pytest.mark.parametrize("variant", VARIANTS)
def test_who_knows_the_truth_passes_and_who_errs_once_in_thirty_does_not(
    cases, variant
):
    chance = random.Random(1)
    right, wrong = Score(), Score()
    for case in cases:
        edits, truth = by_variant(case, variant)
        right += judge(case, edits, Told(truth), (variant, 0))
        other = dict(truth)
        renamed = sorted(name for name, old in truth.items() if name != old)
        assert renamed or "closures" in variant
        for name in renamed:
            if chance.random() < 1 / 30 or name == renamed[0]:
                other[name] = other[
                    chance.choice([n for n in sorted(truth) if n != name])
                ]
        wrong += judge(case, edits, Told(other), (variant, 0))
    assert misses(variant, right) == []
    assert right.precision == 1
    assert right.counts["wrong"] == 0
    assert sum(right.counts[size, "hidden"] for size in ("≥ 20", "5-19", "< 5")) > 10
    assert "precision" in misses(variant, wrong)
    assert wrong.counts["wrong"] == len(wrong.wrong) > 0


def test_partners_of_functions_that_are_gone_or_new_are_wrong(cases):
    variant = "+ shift, noise, 10 % gone or new"
    total: Counter[str] = Counter()
    for case in cases:
        edits, truth = by_variant(case, variant)
        taken = set(truth.values())
        gone = sorted((edits[1].gone & case.subject.names[0]) - taken)
        new = sorted(edits[0].gone & case.subject.names[1])
        score = judge(
            case,
            edits,
            Told(truth | dict(zip(new, gone, strict=False))),
            (variant, 0),
        )
        doubted = set(new[: len(gone)]) & case.subject.uncertain
        total["wrong"] += score.counts["wrong"]
        total["planted"] += min(len(gone), len(new)) - len(doubted)
    assert total["wrong"] == total["planted"] > 0


def test_functions_of_one_name_that_are_parted_are_wrong(cases):
    """Unhidden functions count too: here two of them are swapped."""
    case = cases[0]
    edits, truth = by_variant(case, "renamed")
    one, other = sorted(
        name
        for name, old in truth.items()
        if name == old
        and name in case.subject.symbols
        and not case.subject.symbols[name].end
    )[:2]
    truth[one], truth[other] = other, one
    score = judge(case, edits, Told(truth), ("renamed", 0))
    assert [wrong.name for wrong in score.wrong] == [one, other]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("variant", daily(VARIANTS, list(VARIANTS)[::3]))
def test_edits_keep_profiles_whole_and_values_as_they_were(variant, tmp_path):
    """Go's tool reads them, and shows each function under its other name."""
    pair = BY_NAME["fresh-lua-dearer"]
    subject = Subject(load(pair.base), load(pair.new))
    both = VARIANTS[variant](subject, random.Random(4))
    for profiles, edit in zip((subject.base, subject.new), both, strict=True):
        before, after = cpu_samples(profiles), cpu_samples(edited(profiles, edit))
        assert after == {
            edit.names.get(name, name): count
            for name, count in before.items()
            if name not in edit.gone
        }
        one = edited(profiles, edit)[0]
        assert np.array_equal(one.values, profiles[0].values)
        path = tmp_path / "cpu.pb"
        path.write_bytes(encode(one))
        flags = "-top", "-cum", "-nodecount=5000", "-nodefraction=0"
        printed = go("tool", "pprof", *flags, path)
        shown = {
            re.sub(r" \((partial-)?inline\)$", "", line.split("%")[-1].strip())
            for line in printed.splitlines()[6:]
        }
        known = {name for name, count in after.items() if count}
        assert {plain(name) for name in known} <= {plain(name) for name in shown}


def plain(name):
    """Return a name without type arguments, which pprof shortens."""
    return name.partition("[")[0]


def test_lines_are_shifted_alike_in_a_file_and_kept_apart():
    subject = Subject(load(SMALL[0].base), load(SMALL[0].new))
    _, edit = VARIANTS["+ constant shift of lines"](subject, random.Random(3))
    by_file: dict[str, set[int]] = {}
    for name, down in edit.down.items():
        by_file.setdefault(subject.places[name][0], set()).add(down)
    assert all(len(downs) == 1 for downs in by_file.values())
    assert len({next(iter(downs)) for downs in by_file.values()}) > 20
    moved = edited(subject.new, Edit(down=edit.down))[0]
    (was, now) = (p.locations.line_number for p in (subject.new[0], moved))
    changed = (now - was)[was != now]
    assert set(changed.tolist()) <= set(edit.down.values())
    assert len(changed) > len(was) // 4


def test_which_programs_are_kept_aside():
    drawn = {pair.program for pair in PAIRS} - set(NOT_DRAWN)
    assert set(ASIDE) == set(sorted(drawn, key=hash_of)[:6])
    seen = [pair for pair in PAIRS if pair.program not in ASIDE]
    assert len(seen) >= 20
    for pair in (*seen, *SAME_BUILD):
        assert (pair.base / "cpu.pb.gz").exists(), pair.name
        assert (pair.new / "cpu.pb.gz").exists(), pair.name


def test_captures_of_one_build_have_each_function_at_one_line():
    for pair in SAME_BUILD:
        base, new = Subject(load(pair.base), load(pair.new)).sides
        assert all(base[name][1] == new[name][1] for name in base.keys() & new.keys())


def test_truths_are_of_functions_that_the_captures_have():
    counts = {case.pair: case.counts for case in real_cases(identify)}
    assert min(sum(got) for got in counts.values()) >= 3
    assert counts["lru-v2"] == (4, 0, 0)
    assert counts["btree-generic"] == (11, 0, 0)


def test_names_that_do_not_show_are_no_truth():
    """What Go 1.26 moved from strconv, and a middleware inserted before others."""
    known = {
        name: Subject(load(BY_NAME[name].base), load(BY_NAME[name].new)).uncertain
        for name in ("go1.25-go1.26", "closures-middleware", "go1.26-go1.27")
    }
    moved = {"strconv.ParseInt", "internal/strconv.ParseInt"}
    assert moved <= known["go1.25-go1.26"]
    assert not moved & known["go1.26-go1.27"]
    routes = "example.com/field/program.routes"
    assert {f"{routes}.func1.1", f"{routes}.func2.1"} <= known["closures-middleware"]
