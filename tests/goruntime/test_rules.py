"""The rule table: what DESIGN promises of it, and what it refuses."""

import copy

import pytest

from pprofdiff.errors import PprofDiffError
from pprofdiff.goruntime.rule_table import TABLE
from pprofdiff.goruntime.rules import RuleError, parse_rules, rules

GROUPS = {
    "gc": {
        "gc.mark.dedicated",
        "gc.mark.fractional",
        "gc.mark.idle",
        "gc.mark.bg",
        "gc.mark.assist",
        "gc.phase",
        "gc.other",
        "gc.unknown",
    },
    "gc_tax": {
        "gc.sweep.bg",
        "gc.sweep.assist",
        "gc.writebarrier",
        "gc.allocblack",
        "gc.scavenge.bg",
        "gc.scavenge.assist",
    },
    "alloc": {"alloc", "alloc.growcopy"},
    "sched": {
        "sched",
        "sched.wake",
        "sched.netpoll",
        "sched.timer",
        "sched.sysmon",
        "sched.newproc",
    },
    "locks": {"sync", "chan"},
    "syscall": {"syscall", "cgo", "external"},
    "runtime": {
        "stack",
        "map",
        "hash_eq",
        "string",
        "defer_panic",
        "iface_conv",
        "finalizer",
        "traceback",
        "signal",
        "profiling",
        "rt.other",
        "mem.move",
        "mem.clear",
    },
    "user": {"user"},
}


def test_the_published_groups_hold_their_categories():
    assert [group.id for group in rules().groups] == list(GROUPS)
    for group in rules().groups:
        assert GROUPS[group.id] <= set(group.categories)


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


def test_the_rules_are_read_once():
    assert rules() is rules()


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


def _repeat_a_rule(document):
    document["rules"].append(document["rules"][0])


def _name_twice(document):
    document["rules"][1]["runtime"] = document["rules"][0]["runtime"]


def _unknown_category(document):
    document["rules"][0]["category"] = "nothing"


def _unknown_tier(document):
    document["rules"][0]["tier"] = "nothing"


def _unknown_heir(document):
    document["rules"][0]["yields_to"] = ["nothing"]


def _unknown_kind(document):
    document["rules"][0]["by_leaf_kind"] = {"nothing": "alloc"}


def _yield_backwards(document):
    ids = [rule["id"] for rule in document["rules"]]
    document["rules"][ids.index("gc.scavenge")]["yields_to"] = ["profiling"]


def _category_in_two_groups(document):
    document["groups"][0]["categories"] += " user"


@pytest.mark.parametrize(
    "spoil",
    [
        _repeat_a_rule,
        _name_twice,
        _unknown_category,
        _unknown_tier,
        _unknown_heir,
        _unknown_kind,
        _yield_backwards,
        _category_in_two_groups,
    ],
)
def test_a_table_that_contradicts_itself_is_refused_in_one_line(spoil):
    spoiled = copy.deepcopy(TABLE)
    spoil(spoiled)
    with pytest.raises(RuleError) as caught:
        parse_rules(spoiled)
    assert isinstance(caught.value, PprofDiffError)
    assert str(caught.value).startswith("rule_table.py: ")
    assert "\n" not in str(caught.value)
