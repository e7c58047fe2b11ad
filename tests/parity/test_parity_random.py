"""Random profiles, flags and filters: samples as ``-raw`` has them, tables as ``-top``."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from pprofdiff.analysis.profiles.filters import Filters, filtered, pruned_frames
from tests.building import CPU
from tests.examples import examples
from tests.parity.pprof_oracle import alike, blocks, flags, ours, prepared
from tests.strategies import HEAP, profiles

few = settings(
    derandomize=True,
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
NAMES = st.sampled_from(
    (
        "main",
        "^runtime",
        "json|Cache",
        r"\.go$",
        "app",
        "libc",
        "func1$",
        "nowhere",
        "(?i)GET",
    )
)
TAGS = st.sampled_from(
    (
        "a",
        "true",
        "tenant=a,b",
        "tenant",
        "bytes=1kb:",
        "1:3",
        ":2",
        "3",
        "request:x",
        "a,true",
    )
)
FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "focus": NAMES, "ignore": NAMES, "hide": NAMES, "show": NAMES, "show_from": NAMES,
        "tagfocus": TAGS, "tagignore": TAGS,
    },
)  # fmt: skip
SHAPES = st.fixed_dictionaries(
    {},
    optional={
        "sort": st.just("cum"),
        "granularity": st.sampled_from(
            ("filefunctions", "lines", "addresses", "files")
        ),
        "noinlines": st.just(value=True),
        "drop_negative": st.just(value=True),
        "relative_percentages": st.just(value=True),
        "trim": st.just(value=False),
        "nodecount": st.integers(1, 4),
        "nodefraction": st.sampled_from((0.0, 0.1, 0.5)),
        "edgefraction": st.sampled_from((0.0, 0.1, 0.5)),
        "unit": st.sampled_from(("ms", "auto", "kB")),
        "sample_index": st.sampled_from(("0", "samples")),
    },
)
DROPS = st.sampled_from(("", "runtime.*", "main.run|main.", "encoding/json.*"))
VALUES = st.integers(-3, 3) | st.integers(0, 10**10)


@given(
    st.lists(profiles(values=VALUES), min_size=1, max_size=2),
    st.lists(profiles(values=VALUES), max_size=1),
    st.sampled_from(("base", "diff_base")),
)
@few
def test_merged_and_subtracted(pprof, new, base, side):
    want = pprof.text(new, base, side, raw=True)
    assert pprof.text([prepared(new, base, side)], raw=True) == want


@given(profiles(HEAP, st.integers(0, 1000)), profiles(HEAP, st.integers(0, 1000)))
@few
def test_normalized(pprof, new, base):
    totals = new.values.sum(axis=0).tolist(), base.values.sum(axis=0).tolist()
    # Nothing by nothing is, for pprof, no 1.
    ones = [n == b != 0 for n, b in zip(*totals, strict=True)]
    if any(ones) and not all(ones):
        return  # deviation 2.8.1
    want = pprof.text([new], [base], normalize=True, raw=True)
    assert pprof.text([prepared([new], [base], normalize=True)], raw=True) == want


@given(profiles(values=VALUES), FILTERS, DROPS, DROPS)
@few
def test_filtered(pprof, profile, filters, drop, keep):
    profile = replace(profile, drop_frames=drop, keep_frames=keep)
    done = pprof.run("-raw", *flags(filters), pprof.saved(profile, "new0"))
    assert done.returncode == 0, done.stderr
    found = filtered(pruned_frames(profile), Filters(**filters))
    left = replace(found.profile, drop_frames="", keep_frames="")
    assert pprof.text([left], raw=True) == done.stdout
    output = {
        line.split()[0] for line in done.stderr.splitlines() if "no samples" in line
    }
    assert output == {
        warning.split("=")[0]
        .title()
        .replace("_", "")
        .replace("Tagf", "TagF")
        .replace("Tagi", "TagI")
        for warning in found.warnings
        if "no samples" in warning
    }


@given(
    profiles(values=VALUES),
    st.none() | profiles(values=VALUES),
    st.sampled_from(("base", "diff_base")),
    SHAPES,
    FILTERS,
)
@few
def test_tables(pprof, new, base, side, shape, filters):
    bases = [] if base is None else [base]
    alike(pprof, [new], bases, side, **shape, **filters)


@given(profiles(values=VALUES), profiles(values=VALUES), SHAPES)
@few
def test_peek(pprof, new, base, shape):
    options = {**shape, "peek": "."}
    shown = ours(
        [new], [base], trim=False, **{k: v for k, v in shape.items() if k != "trim"}
    )
    if shown.rstrip().endswith("cum%"):
        return  # no node has a value: an error on both sides
    assert blocks(ours([new], [base], **options)) == blocks(
        pprof.text([new], [base], **options)
    )


@given(profiles(CPU, st.integers(1, 1000)), SHAPES)
@few
def test_means(pprof, profile, shape):
    alike(pprof, [profile], **shape, mean=True)
