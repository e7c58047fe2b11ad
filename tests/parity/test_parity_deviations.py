"""Where pprof is wrong and we are not, by the numbers in `report.pprof.text`.

Each test states what pprof prints and what we print. Where a later pprof prints what
we do, the deviation is gone, and so is the need for its number.
"""

from __future__ import annotations

from collections import Counter

import pytest
from msgspec.structs import replace

from pprofdiff.report.pprof import text
from tests.building import CPU, MAIN, MS, Frame, Place, Sample, built, cpu, parsed
from tests.parity.pprof_oracle import ours, prepared
from tests.parity.test_parity_fixtures import rows
from tests.strategies import HEAP


def test_2_8_1_normalize_keeps_samples_of_types_with_ratio_1(pprof):
    base = built([Sample(parsed("f"), (10, 1000, 2, 200)),
                  Sample(parsed("g"), (10, 1000, 0, 0))], HEAP)  # fmt: skip
    new = built([Sample(parsed("f"), (5, 500, 1, 100)),
                 Sample(parsed("g"), (15, 1500, 0, 0))], HEAP)  # fmt: skip
    options = {"normalize": True, "sample_index": "alloc_space", "unit": "B"}
    theirs, mine = pprof.text([new], [base], **options), ours([new], [base], **options)
    assert {n: r[0] for n, r in rows(mine).items()} == {"f": "-500B", "g": "500B"}
    assert {n: r[0] for n, r in rows(theirs).items()} in (
        {"f": "-500B", "g": "-1000B"},
        {"f": "-500B", "g": "500B"},
    )
    plain = {"sample_index": "alloc_space", "unit": "B"}
    assert rows(ours([new], [base], **plain)) == rows(mine)


def test_2_8_2_rounding_is_kept_as_it_is_in_pprof(pprof):
    base = cpu({"f": 70})
    new = built([Sample(parsed(f"f{i}"), (1, 10 * MS)) for i in range(10)])
    options = {"normalize": True, "sample_index": "samples"}
    text = ours([new], [base], **options)
    assert text == pprof.text([new], [base], **options)
    assert "accounting for 3, 42.86% of 7 total" in text


def test_2_8_3_mean_of_a_diff_is_the_difference_of_the_means(pprof):
    base = built([Sample(parsed("f"), (10, 100 * MS))])
    new = built([Sample(parsed("f"), (20, 300 * MS))])
    theirs, mine = (text([new], [base], mean=True) for text in (pprof.text, ours))
    assert "of 10ms total" in mine
    assert rows(mine) == {"f": ("5ms", "50.00%", "5ms")}
    assert ("of -10ms total" in theirs) or theirs == mine


def test_2_8_3_means_by_side_match_pprof_on_each_side_alone(pprof):
    base = built([Sample(parsed("m;f"), (3, 100)), Sample(parsed("m;g"), (0, 7))])
    new = built([Sample(parsed("m;f"), (7, 300)), Sample(parsed("m;h"), (2, 9))])
    options = {"mean": True, "unit": "ns", "trim": False}

    def means(text):
        """Return the ns of each name in the columns of flat and cum."""
        return Counter(
            {
                (name, column): int(row[column].removesuffix("ns"))
                for name, row in rows(text).items()
                for column in (0, 2)
            }
        )

    want = means(pprof.text([new], **options))
    want.subtract(means(pprof.text([base], **options)))
    assert means(ours([new], [base], **options)) == want


def test_2_8_7_build_ids_may_be_short(pprof):
    new = cpu({"f": 10}, mappings=[replace(MAIN, build_id="7")])
    done = pprof.run("-top", pprof.saved(new, "short"))
    mine = ours([new])
    assert "Build ID: 7\n" in mine
    assert done.stdout == mine or "panic" in done.stderr


def test_2_8_8_columns_of_inlined_lines_distinguish_locations(pprof):
    def at(column):
        frames = (Frame("f", "x.go", 3, column=column), Frame("main", "x.go", 9))
        return Sample((Place(frames, 0),), (1, 10 * MS))

    new, base = built([at(1)]), built([at(2)])
    theirs = pprof.text([new], [base], "base", raw=True)
    assert len(prepared([new], [base], "base")) == 2
    assert theirs.count("x.go:3:") in (0, 2)


@pytest.mark.parametrize(("times", "want"), [((5, 0), 5), ((0, 5), 5), ((5, 0, 7), 5)])
def test_2_8_9_time_is_the_earliest_that_is_given(pprof, times, want):
    day = 86_400 * 10**9
    parts = [cpu({"f": 10}, time_ns=t * day or None) for t in times]
    mine, theirs = ours(parts), pprof.text(parts)
    assert f"Time: 1970-01-{want + 1:02} 00:00:00 UTC" in mine
    assert theirs == mine or "Time: 1970-01-06" not in theirs


def test_2_8_10_large_values_are_subtracted_exactly(pprof):
    large = (1 << 53) + 1
    new, base = cpu({}), built([Sample(parsed("f"), (1, large))])
    raw = pprof.text([new], [base], "base", raw=True)
    assert prepared([new], [base], "base").values.tolist() == [[-1, -large]]
    assert str(-large) in raw or str(1 - large) in raw


def test_2_8_11_several_bases_are_summed(pprof):
    new, bases = cpu({"f": 100}), [cpu({"f": 10}), cpu({"f": 20})]
    theirs, mine = pprof.text([new], bases), ours([new], bases)
    assert rows(mine)["f"][0] == "70ms"
    assert rows(theirs)["f"][0] in ("80ms", "70ms")


def test_names_are_not_taken_for_cpp(pprof):
    name = "main.(*T).run.Map[go.shape.int]"
    new = cpu({name: 10})
    assert rows(ours([new])) == {name: ("10ms", "100%", "10ms")}
    assert ours([new]) == pprof.text([new])
    done = pprof.run("-symbolize=local", "-top", pprof.saved(new, "cpp"))
    assert name in done.stdout or "main..run.Map[go.shape.int]" in done.stdout


def test_the_list_of_deviations_matches_these_tests():
    listed = {w for w in (text.__doc__ or "").split() if w.startswith("2.8.")}
    tested = {
        "2.8." + name.split("_")[3]
        for name in globals()
        if name.startswith("test_2_8_")
    } - {"2.8.2"}
    assert listed == tested
    assert CPU
