"""The grammar of ``--fail-on``: what is printed parses again, what is wrong is said."""

import re
from decimal import Decimal

import hypothesis
import pytest
from hypothesis import strategies as st

from pprofdiff.analysis.gate.forms import RULES
from pprofdiff.analysis.gate.measures import Limit, parse_limit
from pprofdiff.analysis.gate.rules import KINDS, parse_rule
from pprofdiff.analysis.runs.declared import declared
from pprofdiff.cli.arguments import help_text
from pprofdiff.errors import UsageError
from pprofdiff.goruntime.rules import rules
from tests.examples import examples

AMOUNTS = st.builds(
    lambda whole, part: Decimal(f"{whole}.{part}" if part else whole),
    st.integers(0, 10**15 - 1).map(str),
    st.one_of(st.just(""), st.integers(0, 10**9 - 1).map(str)),
)
ABSOLUTE = ("ns", "us", "ms", "s", "B", "kB", "MB", "GB", "KiB", "MiB", "GiB")
POINTS = st.builds(Limit, st.just(1), AMOUNTS, st.sampled_from(("%", "pp")))
SIZES = st.builds(Limit, st.just(1), AMOUNTS, st.sampled_from(("", *ABSOLUTE)))
CHANGES = st.one_of(POINTS, SIZES)
NAMES = st.text("abcXYZ09_/.-", min_size=1)
PATTERNS = st.sampled_from(
    (r"main\..*", "^main$", "a:b", "[[:alpha:]]+", ":", r"(?i)json|xml", "[^:]", "é")
)
TIMES = st.builds(
    Limit, st.sampled_from((0, 1)), AMOUNTS, st.sampled_from(ABSOLUTE[:4])
)


def written(kind, subject, limit, source=None):
    """Return texts of rules: a strategy from strategies of their parts."""
    source = st.just("") if source is None else source.map(lambda name: f"@{name}")
    return st.builds(
        lambda source, subject, limit: ":".join(
            part for part in (f"{kind}{source}", subject, limit) if part
        ),
        source,
        subject,
        limit.map(str),
    )


SOURCES = st.one_of(st.just("cpu"), NAMES)
TEXTS = {
    "cum": written("cum", PATTERNS, CHANGES, SOURCES),
    "flat": written("flat", PATTERNS, CHANGES, SOURCES),
    "package": written("package", PATTERNS, CHANGES),
    "group": written("group", st.sampled_from([g.id for g in rules().groups]), CHANGES),
    "category": written("category", st.sampled_from(rules().categories), CHANGES),
    "total": written(
        "total", st.just(""), POINTS.filter(lambda x: x.relative), SOURCES
    ),
    "bench": written(
        "bench",
        st.sampled_from(("allocs/op", "ns/op:Encode/size=1k", "B/op:^X:y", "widgets")),
        POINTS.filter(lambda x: x.relative),
    ),
    "unit": written("unit", PATTERNS, POINTS.filter(lambda x: x.relative)),
    "load": written(
        "load",
        st.sampled_from(("mean", "p50", "p99.9", "max")),
        TIMES.filter(lambda x: x.sign),
    ),
    "figure": written(
        "figure",
        # A mean number of goroutines is a time too, and shown as a count.
        st.sampled_from(
            [key for key, one in declared().items() if one.unit == one.shown == "ns"]
        ),
        TIMES,
        st.just("trace"),
    ),
    "wait": written(
        "wait",
        PATTERNS,
        st.one_of(
            POINTS.filter(lambda x: x.relative),
            st.builds(Limit, st.just(1), AMOUNTS, st.sampled_from(ABSOLUTE[:4])),
        ),
    ),
    "finding": st.sampled_from(("finding:major", "finding:minor")),
}


def spelled(asked):
    """Return a rule as it is typed, from its parts."""
    source = f"@{asked.source}" if asked.source else ""
    form = next(form for form in RULES if form.kind == asked.kind)
    parts = [f"{asked.kind}{source}"]
    parts += [asked.subject] if form.subject else []
    parts += [str(asked.limit)] if form.limited else []
    return ":".join(parts)


def test_every_kind_is_in_the_help_and_has_a_measure():
    assert [form.kind for form in RULES] == list(KINDS) == list(TEXTS)
    for form in RULES:
        assert f"  {form.form:<36} {form.help}\n" in help_text()


@hypothesis.settings(derandomize=True)
@hypothesis.given(limit=st.one_of(CHANGES, TIMES))
def test_a_limit_that_is_printed_parses_again(limit):
    assert parse_limit(str(limit)) == limit


@hypothesis.settings(derandomize=True, max_examples=examples(300))
@hypothesis.given(text=st.one_of(*TEXTS.values()))
def test_a_rule_that_is_printed_parses_again(text):
    rule = parse_rule(text)
    assert spelled(rule) == text
    assert parse_rule(spelled(rule)) == rule


@pytest.mark.parametrize("form", RULES, ids=lambda form: form.kind)
def test_the_example_of_each_kind_is_one(form):
    rule = parse_rule(form.example)
    assert rule.kind == form.kind
    assert spelled(rule) == form.example


@pytest.mark.slow
@hypothesis.settings(derandomize=True, max_examples=examples(300))
@hypothesis.given(
    text=st.one_of(
        st.text(max_size=30),
        st.from_regex(r"(cum|figure|bench|group|total)[@:a-z/]{0,8}[:+%0-9p-]{0,8}"),
    )
)
def test_any_text_is_a_rule_or_one_line_with_what_to_type(text):
    rule = said = None
    try:
        rule = parse_rule(text)
    except UsageError as error:
        said = str(error)
    assert rule is None or parse_rule(spelled(rule)).limit == rule.limit
    assert said is None or said.startswith(f"--fail-on {text}")


@pytest.mark.parametrize("minus", ["-", "−"])
def test_either_minus_is_one(minus):
    assert parse_limit(f"{minus}5%") == Limit(-1, Decimal(5), "%")


@pytest.mark.parametrize("unit", ["us", "µs", "μs"])
def test_every_micro_is_one(unit):
    assert parse_limit(f"+10{unit}") == Limit(1, Decimal(10), "us")


# A wrong rule, what is said to be wrong, and a right rule that is shown.
WRONG = {
    "": ("there is no rule without a kind", r"cum:main\..*:+5%"),
    "cpu": ("there is no rule cpu", r"cum:main\..*:+5%"),
    "+5%": ("there is no rule +5%", r"cum:main\..*:+5%"),
    "cum": ("the function's pattern or its limit is missing", r"cum:main\..*:+5%"),
    "cum:main": ("the function's pattern or its limit is missing", r"cum:main\..*:+5%"),
    "cum:main:": ("nothing is no limit", r"cum:main\..*:+5%"),
    "cum:main:5%": ("5% has no sign", "+5%"),
    "cum:main:50ms": ("the limit 50ms has no sign", r"cum:main\..*:+5%"),
    "cum:main:-5%": ("less is better: the limit is +5%", r"cum:main\..*:+5%"),
    "cum:main:+5parsecs": ("parsecs is not a unit", r"cum:main\..*:+5%"),
    "cum:main:+five": ("+five is no limit", r"cum:main\..*:+5%"),
    "cum:main:+5e3": ("+5e3 is no limit", r"cum:main\..*:+5%"),
    "cum:main:+nan": ("+nan is no limit", r"cum:main\..*:+5%"),
    "cum@:main:+5%": ("a profile's name follows @", r"cum:main\..*:+5%"),
    "bench@cpu:allocs/op:+5%": ("bench takes no @", "bench:allocs/op:+0%"),
    "total": ("nothing is no limit", "total:+5%"),
    "total:+2pp": ("the total is always 100%", "total:+5%"),
    "group:gcc:+2pp": ("there is no group gcc; there are: gc, gc_tax", "gc"),
    "category:gc:+2pp": ("there is no category gc; there are: ", "gc.mark.assist"),
    "bench:allocs/op:-5%": ("less allocs/op is better", "bench:allocs/op:+5%"),
    "bench:MB/s:+5%": ("more MB/s is better", "bench:MB/s:-5%"),
    "bench:ns/op:+50ns": ("a percentage, or a number of ns/op", "bench:ns/op:+5%"),
    "wait:fdatasync:+2pp": ("waits are times", "+10% or +50us"),
    "wait@trace:fdatasync:+10%": ("wait takes no @", "wait:fdatasync:+10%"),
    "finding:huge": ("there is no severity huge; there are: minor, major", "major"),
    "finding": ("the severity or its limit is missing", "finding:major"),
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_a_mistake_is_named_next_to_a_right_rule(text):
    why, right = WRONG[text]
    with pytest.raises(UsageError) as caught:
        parse_rule(text)
    said = str(caught.value)
    assert said.startswith(f"--fail-on {text}: {why}"[:20])
    assert why in said
    assert right in said
    assert "\n" not in said


@pytest.mark.parametrize("kind", ["cum", "flat", "package", "wait"])
def test_a_wrong_pattern_is_a_mistake(kind):
    with pytest.raises(UsageError, match=re.escape(f"--fail-on {kind}:(:+5%")):
        parse_rule(f"{kind}:(:+5%")


@pytest.mark.parametrize(
    ("one", "other"), [("KiB", "kB"), ("MiB", "MB"), ("GiB", "GB")]
)
def test_sizes_are_typed_as_pprof_or_the_report_writes_them(one, other):
    """Of both, a step is 1024."""
    typed, printed = (parse_limit(f"+3{unit}") for unit in (other, one))
    assert str(printed) == f"+3{one}"
    assert printed.fits("bytes")
    assert (
        typed.within("B")
        == printed.within("B")
        == 3 * 1024 ** ("KMG".index(one[0]) + 1)
    )
