"""The rule table: what DESIGN promises of it, and that it contradicts nothing."""

import pytest

from pprofdiff.goruntime.rule_table import ALIASES, FIRST, LAST
from pprofdiff.goruntime.rules import rules


def test_the_published_groups_are_in_their_order():
    groups = "gc gc_tax alloc sched locks syscall runtime user"
    assert [group.id for group in rules().groups] == groups.split()


def test_every_category_is_in_one_group_and_has_a_label():
    table = rules()
    listed = [c for group in table.groups for c in group.categories]
    assert listed == list(table.categories)
    assert len(set(listed)) == len(listed)
    assert set(table.category_labels) == set(listed)
    assert all(table.group_of(c).categories.count(c) == 1 for c in listed)


def test_every_category_has_a_rule_and_every_rule_a_reason():
    table = rules()
    assert {rule.category for rule in table.rules} == set(table.categories)
    assert all(rule.why and not rule.why.endswith(".") for rule in table.rules)


def test_labels_are_not_repeated():
    labels = list(rules().category_labels.values())
    assert len(set(labels)) == len(labels)


def test_an_unknown_id_is_a_key_error():
    with pytest.raises(KeyError):
        rules().group_of("nothing")
    assert rules().group_of("alloc").id == "alloc"


def test_the_longest_prefix_wins_and_an_exact_name_beats_it():
    table = rules()

    def rule(name):
        return table.rules[table.rule_table.find(name)].id

    assert rule("runtime.traceGoStart") == "profiling"
    assert rule("runtime.tracebackothers") == "traceback"
    assert rule("runtime.traceEnabled") == "rt.other"
    assert rule("runtime.memclrNoHeapPointers") == "mem.clear"
    assert rule("runtime.memclrNoHeapPointersChunked") == "alloc"
    assert rule("runtime.neverSeenBefore") == "rt.other"
    assert table.rule_table.find("main.main") == -1


def test_rules_refer_to_what_is_there():
    table = rules()
    ids = [rule.id for rule in table.rules]
    assert len({*ids}) == len(ids)
    kinds = {kind.id for kind in table.leaf_kinds}
    yielding = set()
    for rule in table.rules:
        assert rule.tier in table.tiers
        assert {kind for kind, _ in rule.by_leaf_kind} <= kinds
        assert {*rule.yields_to, *(other for _, other in rule.by_leaf_kind)} <= {*ids}
        yielding |= {rule.id} if rule.yields_to else set()
        assert not yielding & {*rule.yields_to}, rule.id
    for lists in (
        [rule.patterns for rule in table.rules],
        [kind.patterns for kind in table.leaf_kinds],
        *(map(str.split, names.values()) for names in (ALIASES, FIRST, LAST)),
    ):
        listed = [name for names in lists for name in names]
        assert len({*listed}) == len(listed)


def test_every_name_of_a_rule_begins_with_a_head_and_no_head_with_another():
    table = rules()
    for heads, tables in (
        (table.heads, (table.rule_table, table.transparent)),
        (table.release_heads, (table.first_release, table.last_release)),
    ):
        names = {name for one in tables for name in (*one.exact, *one.prefixes)}
        assert all(map(heads.begin, names))
        assert not any(
            a != b and a.startswith(b) for a in heads.heads for b in heads.heads
        )
