"""Names that somebody says are one function."""

from __future__ import annotations

import pytest

from pprofdiff import compare
from pprofdiff.errors import UsageError
from pprofdiff.identity.given import given_pairs
from tests.field.capture import PAIRS

BASE = [
    "github.com/acme/lru.Get",
    "github.com/acme/lru.Put",
    "main.work",
    "a/x.F",
    "b/x.F",
]
NEW = ["github.com/acme/cache.Get", "github.com/acme/cache.Put", "main.job", "c/x.F"]


@pytest.mark.parametrize(
    ("rule", "pairs"),
    [
        (("main.work", "main.job"), {"main.work": "main.job"}),
        (("lru.Get", "cache.Get"), {BASE[0]: NEW[0]}),
        (("github.com/acme/lru.*", "github.com/acme/cache.*"), dict(zip(BASE[:2], NEW[:2], strict=True))),
    ],
)  # fmt: skip
def test_a_rule_names_functions(rule, pairs):
    assert given_pairs([rule], BASE, NEW) == pairs


@pytest.mark.parametrize(
    ("rule", "what"),
    [
        (("main.none", "main.job"), "main.none: base has no such function"),
        (("main.work", "main.none"), "main.none: new has no such function"),
        (("x.F", "c/x.F"), "base has 2 such functions, as a/x.F and b/x.F"),
        (("lru.*", "cache.*"), "no function of base has its name in new"),
        (("a*", "main.job"), "write one [*] on each side"),
        (("*a*", "*"), "write one [*] on each side"),
    ],
)
def test_a_rule_that_names_none_is_refused(rule, what):
    with pytest.raises(UsageError, match=what):
        given_pairs([rule], BASE, NEW)


def test_a_comparison_takes_what_it_is_reported():
    folder = PAIRS / "closures-pipeline"
    old = "program.BenchmarkPipeline.pipeline.func1"

    def row(name, **how):
        got = compare(folder / "base", folder / "new", **how)["cpu"].functions
        return got[got.index.str.endswith(f".{name}")].iloc[0]

    assert row("pipeline.func2")["status"] == "new"
    said = row("pipeline.func2", pair_names={old: "program.pipeline.func2"})
    assert (said["status"], said["base_name"]) == ("both", f"example.com/field/{old}")
    assert row("pipeline.func3")["base_name"].endswith("pipeline.func2")
    assert row("pipeline.func3", pairing=False)["status"] == "new"
