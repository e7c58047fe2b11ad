"""Causes own their consequences: one tree, and each sample is claimed once."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pprofdiff.analysis.causes.case import Case
from pprofdiff.analysis.causes.finding import DIRECTIONS, SEVERITIES, Claim, Finding
from pprofdiff.analysis.causes.tree import FOLLOWS, tree
from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.settings import Settings
from pprofdiff.analysis.work import counted
from pprofdiff.model.side import Capture, Side
from tests.analysis.building import profile
from tests.examples import examples

# Ids that the table speaks of, spelled out, and one that it does not.
IDS = sorted(
    {
        pattern.lstrip("@=%<").replace("*", "x")
        for cause, consequences in FOLLOWS.items()
        for pattern in (cause, *consequences)
    }
    | {"of-its-own"}
)
SAMPLES = 12
RANK = {severity: place for place, severity in enumerate(SEVERITIES)}


@cache
def cpu(known=True):
    """Return CPU profiles of a few large samples, each a function of its own."""
    sides = [
        profile([((f"example.com/p{i}.F", "main.main"), 50 + by * i * i) for i in range(SAMPLES)])
        for by in (2, 9)
    ]  # fmt: skip
    base, new = (
        Side(name, (Capture("cpu", "profile", one),))
        for name, one in zip(("base", "new"), sides, strict=True)
    )
    work = counted((1, 1)) if known else None
    return Case(compare_sides(base, new, Settings(work=work))).cpu


_masks = st.lists(st.booleans(), min_size=SAMPLES, max_size=SAMPLES)
_claims = st.one_of(
    st.none(),
    st.builds(lambda a, b: Claim(np.array(a, np.bool_), np.array(b, np.bool_)), _masks, _masks),
)  # fmt: skip
_drafts = st.lists(
    st.builds(
        lambda id_, severity, direction, claim, weight: Finding(
            id_, "a title", "a text", (), "", severity, direction, claim, weight=weight
        ),
        st.sampled_from(IDS),
        st.sampled_from(SEVERITIES),
        st.sampled_from(DIRECTIONS),
        _claims,
        st.floats(0, 1),
    ),
    max_size=8,
)
_ways = st.sampled_from((None, "worse", "better"))
_some = settings(max_examples=examples(300), deadline=None)


def _whatever(test):
    """Try a test on drafts, ways of the outcome, and whether the work is known."""
    return pytest.mark.slow(_some(given(_drafts, _ways, st.booleans())(test)))


def families(found):
    """Return each cause with all that follows from it, in order."""
    listed = []
    for finding in found:
        if finding.parent is None:
            listed.append([])
        listed[-1].append(finding)
    return listed


def shared(one, other):
    """Return whether two claims have a sample in common."""
    return any(side.any() for side in one.within(other).sides)


@_whatever
def test_it_is_a_tree_of_all_that_was_found(drafts, way, known):
    found, _ = tree(cpu(known), drafts, way)
    ids = [finding.id for finding in found]
    # Those left out may be chance.
    assert len(set(ids)) == len(ids) <= len(drafts)
    places = {id_: place for place, id_ in enumerate(ids)}
    for finding in found:
        assert finding.parent is None or places[finding.parent] < places[finding.id]
    # A consequence stands within its cause's family: nothing of another comes between.
    for family in families(found):
        own = {finding.id for finding in family}
        assert all(f.parent in own for f in family[1:])


@_whatever
def test_no_sample_is_claimed_twice(drafts, way, known):
    found, taken = tree(cpu(known), drafts, way)
    by_parent = {}
    for finding in found:
        by_parent.setdefault(finding.parent, []).append(finding)
    for siblings in by_parent.values():
        claims = [f.claim for f in siblings if f.claim is not None]
        assert not any(shared(one, other) for one, other in combinations(claims, 2))
    by_id = {finding.id: finding for finding in found}
    for finding in found:
        if finding.parent is not None and finding.claim is not None:
            whole = by_id[finding.parent].claim
            assert whole is not None
            assert not any(side.any() for side in finding.claim.without(whole).sides)
        if finding.claim is not None:
            assert not any(s.any() for s in finding.claim.without(taken).sides)
            assert finding.explains == cpu(known).delta(finding.claim)


@_whatever
def test_the_first_cause_leaves_nothing_to_others(drafts, way, known):
    """Its amount has its own numbers, or also what follows from it."""
    found, _ = tree(cpu(known), drafts, way)
    assert not any(finding.shared for finding in found[:1])


@_whatever
def test_what_a_cause_says_itself_goes_the_way_of_all_of_it(drafts, way, known):
    for finding in tree(cpu(known), drafts, way)[0]:
        if finding.own is not None:
            assert finding.explains * finding.own > 0, finding
        assert finding.claim is not None or finding.own is finding.mark is None


def draft(id_, samples):
    """Return a severe draft that claims samples of both sides by position."""
    return finding(id_, *samples, severity="major", new=None)


def test_what_a_cause_says_itself_is_without_what_follows():
    drafts = [draft("allocation", (8, 9)), draft("gc-cpu", (4, 5))]
    cause, follows = tree(cpu(), drafts)[0]
    assert follows.parent == cause.id
    assert cause.own == cpu().delta(drafts[0].claim)
    assert cause.explains == cause.own + follows.own


def test_what_others_claim_is_reported_next_to_them():
    """A cause whose numbers show more than is left for it says so."""
    drafts = [draft("one", range(6, 12)), draft("two", (4, 5, 6))]
    first, second = tree(cpu(), drafts)[0]
    assert (first.id, first.shared) == ("one", False)
    assert (second.id, second.shared) == ("two", True)
    assert second.explains < cpu().delta(drafts[1].claim)
    apart = [drafts[0], draft("two", (3, 4, 5))]
    assert not any(finding.shared for finding in tree(cpu(), apart)[0])


@_whatever
def test_no_finding_goes_the_other_way_than_its_samples(drafts, way, known):
    for finding in tree(cpu(known), drafts, way)[0]:
        if finding.explains:
            assert finding.direction != ("better" if finding.explains > 0 else "worse")


@_whatever
def test_no_cause_stands_above_a_more_severe_family(drafts, way, known):
    """A family is as severe as its most severe member: none is hidden low down.

    What goes the outcome's way and matters stands above all that does not; so does a
    leak that is new.
    """
    found, _ = tree(cpu(known), drafts, way)
    severities = [max(RANK[f.severity] for f in family) for family in families(found)]

    def explains(cause):
        leak = (cause.id, cause.direction) == ("goroutine-leak", "worse")
        return way is None or cause.direction in {way, "neutral"} or leak

    ranks = [
        (severity > 0 and explains(family[0]), severity)
        for severity, family in zip(severities, families(found), strict=True)
    ]
    assert ranks == sorted(ranks, reverse=True)


@_whatever
def test_a_consequence_goes_its_causes_way(drafts, way, known):
    found, _ = tree(cpu(known), drafts, way)
    by_id = {finding.id: finding for finding in found}
    for finding in found:
        if finding.parent is not None:
            ways = {finding.direction, by_id[finding.parent].direction}
            assert ways != {"worse", "better"}


@_some
@given(_drafts)
def test_without_cpu_nothing_is_claimed(drafts):
    found, taken = tree(None, drafts)
    assert taken is None
    assert len(found) == len(drafts)
    assert all(f.claim is f.explains is None for f in found)


def finding(id_, *places, severity="info", direction="worse", new=True):
    """Return a draft that claims samples of new (or of both sides) by position."""
    mask = np.zeros(SAMPLES, np.bool_)
    mask[list(places)] = True
    claim = Claim(mask if new is None else np.zeros(SAMPLES, np.bool_), mask)
    return Finding(id_, id_, "", (), severity=severity, direction=direction, claim=claim if places else None)  # fmt: skip


def parents(*drafts, **how):
    """Return {id: parent} of drafts."""
    return {f.id: f.parent for f in tree(cpu(), drafts, **how)[0]}


def test_a_chain_of_causes():
    """More bytes, more collections, more help with marking: the nearest cause owns."""
    chain = (
        finding("allocation", 11),
        finding("gc-frequency", 10),
        finding("gc-assist", 9),
    )
    assert parents(*chain) == {
        "allocation": None, "gc-frequency": "allocation", "gc-assist": "gc-frequency",
    }  # fmt: skip
    for order in combinations(range(3), 2):
        assert parents(*(chain[i] for i in order[::-1])) == parents(
            *(chain[i] for i in order)
        )


def test_what_moved_the_other_way_is_no_consequence():
    better = finding("gc-frequency", severity="major", direction="better")
    assert parents(finding("allocation", 11), better)["gc-frequency"] is None
    neutral = better._replace(direction="neutral")
    assert parents(finding("allocation", 11), neutral)["gc-frequency"] == "allocation"


def test_a_note_is_no_cause_of_what_matters():
    note = Finding("allocation", "", "", (), direction="worse")
    grave = Finding("gc-frequency", "", "", (), severity="major", direction="worse")
    assert parents(note, grave)["gc-frequency"] is None
    assert (
        parents(note._replace(severity="minor"), grave)["gc-frequency"] == "allocation"
    )


def test_what_a_function_costs_follows_where_the_samples_are():
    inside = finding("work-appeared", 9, 10, 11), finding("leaf-copy", 10)
    assert parents(*inside)["leaf-copy"] == "work-appeared"
    outside = finding("work-appeared", 9, 11), finding("leaf-copy", 10)
    assert parents(*outside)["leaf-copy"] is None


def test_what_a_cause_claims_is_counted_once():
    cause, part = finding("of-its-own", 9, 10, 11), finding("other", 10)
    found, taken = tree(cpu(), (part, cause))
    assert [f.id for f in found] == ["of-its-own", "other"]
    assert found[1].parent == "of-its-own"
    assert cpu().delta(taken) == found[0].explains


def test_what_may_be_chance_takes_nothing_from_other_causes():
    sure, other = finding("of-its-own", 11), finding("other", 1, 2)
    chance = finding("place", 1, 3, 4, new=None)
    assert [f.id for f in tree(cpu(), [chance])[0]] == ["place"]
    found, _ = tree(cpu(), [sure, chance, other])
    assert [f.id for f in found] == ["of-its-own", "other"]
    assert found[1].explains == found[1].own == cpu().delta(other.claim)


def test_two_of_one_id_are_numbered():
    same = (
        finding("work-moved", 11),
        finding("work-moved", 10),
        finding("work-moved", 9),
    )
    assert set(parents(*same)) == {"work-moved", "work-moved-2", "work-moved-3"}


def test_what_moved_the_other_way_explains_nothing():
    (got,), _ = tree(cpu(), [finding("of-its-own", 11, direction="better")])
    assert got.claim is got.explains is None


@pytest.mark.parametrize(("places", "severity"), [((11,), "major"), ((1,), "minor")])
def test_severity_is_a_share_of_the_larger_side(places, severity):
    (got,), _ = tree(cpu(), [finding("of-its-own", *places)])
    share = got.explains / cpu().whole
    assert (share >= 0.05) == (severity == "major")
    assert got.severity == severity


def test_the_outcomes_way_stands_first_among_equals():
    worse = finding("a", 11, direction="worse")
    base = Claim(np.arange(SAMPLES) >= 8, np.zeros(SAMPLES, np.bool_))
    better = Finding("b", "", "", (), direction="better", claim=base)
    for way, first in (("worse", "a"), ("better", "b")):
        found, _ = tree(cpu(), [worse, better], way)
        assert {f.severity for f in found} == {"major"}
        assert found[0].id == first


def test_nothing_follows_from_what_is_listed_after_it():
    """So no two can be each other's cause."""
    causes = list(FOLLOWS)
    for place, cause in enumerate(causes):
        drafts = [Finding(c.replace("*", "x"), "", "", ()) for c in causes[: place + 1]]
        last = drafts[-1].id
        assert last not in {f.parent for f in tree(None, drafts)[0]}, cause
