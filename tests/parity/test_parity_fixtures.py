"""Small profiles with numbers that can be checked by head, here and in pprof."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from pprofdiff.errors import IncompatibleProfilesError
from pprofdiff.model.profiles.merge import merge
from pprofdiff.model.profiles.profile import ValueType
from tests.building import CPU, MAIN, MS, Frame, Place, Sample, built, cpu, parsed
from tests.parity.pprof_oracle import alike, ours

BASE_BUILD = replace(MAIN, build_id="base01")
NEW_BUILD = replace(MAIN, build_id="new001")


def _pair(base, new):
    return cpu(base, mappings=[BASE_BUILD]), cpu(new, mappings=[NEW_BUILD])


LEAVES = _pair(
    {"main.main;main.mid;main.leaf1": 500, "main.main;main.mid;main.leaf2": 500,
     "main.main;main.old.func1": 200},
    {"main.main;main.mid;main.leaf1": 800, "main.main;main.mid;main.leaf2": 200,
     "main.main;main.new.func1": 200},
)  # fmt: skip
SMALLS = _pair(
    {"main;big": 10_000},
    {"main;big": 15_000} | {f"main;small{i}": 10 * i for i in range(1, 8)},
)
RECURSION = _pair({"main;rec;rec;h": 100}, {"main;rec>h": 150})
PATHS = _pair({"main;f@/build/1/f.go:3": 100}, {"main;f@/build/2/f.go:3": 150})


def rows(text):
    """Return {name: (flat, flat%, cum)} of a table."""
    body = text[text.index("\n      flat") + 1 :].splitlines()[1:]
    found = {}
    for line in body:
        flat, share, _, cum, _, *name = line.split()
        found[name[0]] = (flat, share, cum)
    return found


def both(pprof, pair, side="diff_base", **options):
    """Return our text, which must be pprof's."""
    base, new = pair
    return alike(pprof, [new], [base], side, **options)


def test_callers_whose_callees_cancel_out_have_no_row(pprof):
    text = both(pprof, LEAVES)
    assert "accounting for 0, 0% of 1200ms total" in text
    assert rows(text) == {
        "main.leaf1": ("300ms", "25.00%", "300ms"),
        "main.leaf2": ("-300ms", "25.00%", "-300ms"),
        "main.new.func1": ("200ms", "16.67%", "200ms"),
        "main.old.func1": ("-200ms", "16.67%", "-200ms"),
    }


def test_base_counts_both_sides_in_the_total(pprof):
    text = both(pprof, LEAVES, "base")
    assert "of 2400ms total" in text
    assert {share for _, share, _ in rows(text).values()} == {"12.50%", "8.33%"}


def test_drop_negative(pprof):
    text = both(pprof, LEAVES, drop_negative=True)
    assert "accounting for 500ms, 41.67% of 1200ms total" in text
    assert set(rows(text)) == {"main.leaf1", "main.new.func1"}


def test_relative_percentages(pprof):
    text = both(pprof, LEAVES, relative_percentages=True, focus="leaf1")
    assert "of 500ms total" in text
    assert rows(text)["main.leaf1"][1] == "60.00%"


@pytest.mark.parametrize(("side", "total"), [("diff_base", "1.20s"), ("base", "0")])
def test_a_profile_against_itself_has_no_rows(pprof, side, total):
    text = both(pprof, (LEAVES[0], LEAVES[0]), side)
    assert f"of {total} total" in text
    assert rows(text) == {}


def test_two_files_on_a_side_are_summed(pprof):
    base, new = LEAVES
    text = ours([new, new], [base])
    assert text == pprof.text([new, new], [base])
    assert rows(text)["main.main"] == ("0", "0%", "1200ms")


def test_the_cut_off_follows_the_net_change_and_the_legend_the_total(pprof):
    text = both(pprof, SMALLS)
    assert set(rows(text)) == {"main", "big", *(f"small{i}" for i in range(3, 8))}
    assert "(cum <= 0.05s)" in text


def test_recursion_and_inlining_that_change(pprof):
    text = both(pprof, RECURSION)
    assert rows(text) == {
        "h": ("50ms", "50.00%", "50ms"),
        "main": ("0", "0%", "50ms"),
        "rec": ("0", "0%", "50ms"),
    }
    assert rows(both(pprof, RECURSION, noinlines=True))["rec"] == (
        "150ms",
        "150.00%",
        "50ms",
    )


def test_paths_split_a_function_only_where_files_are_asked_for(pprof):
    assert rows(both(pprof, PATHS))["f"][0] == "50ms"
    text = both(pprof, PATHS, granularity="filefunctions")
    assert "f /build/1/f.go" in text
    assert "f /build/2/f.go" in text


def test_units_of_the_two_sides_may_differ(pprof):
    coarse = (CPU[0], ValueType("cpu", "milliseconds"))
    base = built([Sample(parsed("main;f"), (10, 100))], coarse)
    new = cpu({"main;f": 150})
    assert rows(both(pprof, (base, new)))["f"][0] == "50ms"
    with pytest.raises(IncompatibleProfilesError):
        ours([new], [base], normalize=True)
    failed = pprof.run(
        "-top",
        "-normalize",
        f"-diff_base={pprof.saved(base, 'b')}",
        pprof.saved(new, "n"),
    )
    assert (failed.returncode, failed.stdout) == (2, "")


def test_a_type_that_one_side_lacks_is_left_out(pprof):
    base = built([Sample(parsed("main;f"), (100 * MS,))], CPU[1:])
    assert rows(both(pprof, (base, cpu({"main;f": 150}))))["f"][0] == "50ms"


def test_inlined_calls_are_distinguished_from_others(pprof):
    new = cpu(
        {"main>a;b": 10, "main;a;b>c": 20, "main;c": 30, "main;b>d": 50, "b>d": 5}
    )
    for options in (
        {},
        {"nodecount": 2},
        {"hide": "^a$"},
        {"edgefraction": 0.3},
        {"peek": "."},
    ):
        alike(pprof, [new], **options)


def test_a_single_file_is_not_merged_with_itself(pprof):
    place = parsed("main;f")
    twice = built(
        [Sample(place, (1, 10)), Sample(place, (1, 10)), Sample(place, (0, 0))]
    )
    assert merge([twice]) is twice
    assert ours([twice]) == pprof.text([twice])


@pytest.mark.parametrize(
    "header",
    [
        {"comments": ("seen", "#unseen", "too")},
        {"doc_url": "https://example.com/doc"},
        {"time_ns": 1_700_000_000_999_999_999, "duration_ns": 90_000_000_000},
        {"time_ns": -1, "duration_ns": -5},
        {"duration_ns": 2_500_000},
        {"mappings": [replace(MAIN, file="/bin/dir/", build_id="")]},
        {"mappings": [replace(MAIN, file="")]},
        {"default_sample_type": "samples"},
        {"default_sample_type": "unknown"},
        {"drop_frames": "main|f", "keep_frames": "f"},
        {"drop_frames": "("},
    ],
)
def test_headers(pprof, header):
    new = cpu({"main;f;g": 100, "main;f": 30}, **header)
    assert ours([new]) == pprof.text([new])


def test_long_filters_are_shortened_in_the_legend(pprof):
    new = cpu({"main;f": 100})
    pattern = "main|" + "x" * 70 + "|yy"
    options = {"focus": pattern, "ignore": "é" * 80}
    assert ours([new], **options) == pprof.text([new], **options)


def test_percentages_of_very_small_shares(pprof):
    values = [10**k for k in range(13)]
    new = built([Sample(parsed(f"f{i}"), (1, v)) for i, v in enumerate(values)])
    assert ours([new], trim=False) == pprof.text([new], trim=False)


@pytest.mark.matrix
@pytest.mark.parametrize(
    "unit", ["minimum", "auto", "ns", "us", "ms", "s", "hours", "B", "?"]
)
@pytest.mark.parametrize(
    "kind",
    ["nanoseconds", "ms", "us", "μs", "seconds", "bytes", "kb", "MB", "count", "objects", "GCU",
     "milligcu", "", "hrs", "S", "secs"],
)  # fmt: skip
def test_values_in_every_unit(pprof, kind, unit):
    values = [1, 5, 99, 100, 995, 999, 1000, 1023, 1024, 1025, 3600, 123456, 1048575, 7 * 10**9,
              3 * 10**12 + 7, 1 << 41, -5, -1500, -(1 << 33)]  # fmt: skip
    new = built(
        [Sample(parsed(f"f{i:02}"), (1, v)) for i, v in enumerate(values)],
        (CPU[0], ValueType("amount", kind)),
    )
    options = {"unit": unit, "trim": False}
    assert ours([new], **options) == pprof.text([new], **options)


def test_frames_of_several_binaries_without_symbols(pprof):
    library = replace(MAIN, file="/lib/libc.so", build_id="ffff")
    nameless = replace(MAIN, file="", build_id="eeee")
    bare = [Place((Frame(""),), 0x20 + 0x10 * i, i) for i in (-1, 1, 2)]
    new = built(
        [
            Sample((p, *parsed("main")), (1, (i + 1) * 10 * MS))
            for i, p in enumerate(bare)
        ],
        mappings=[MAIN, library, nameless],
    )
    for granularity in ("functions", "lines", "addresses"):
        for chosen in ({}, {"focus": "libc"}, {"hide": "libc"}, {"show": "libc|main"}):
            alike(pprof, [new], granularity=granularity, **chosen)
