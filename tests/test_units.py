"""Values as text; `tests/parity` compares the rules that are pprof's with pprof."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.units import (
    Scale,
    common_unit,
    comparable,
    label,
    percent,
    percentage,
    rounded,
    scale,
    scale_for,
    scaled,
    times,
)

UNITS = (
    "ns",
    "microseconds",
    "ms",
    "sec",
    "hours",
    "bytes",
    "kb",
    "MB",
    "gcu",
    "count",
    "",
)


@pytest.mark.parametrize(
    ("value", "unit", "target", "want"),
    [
        (1_500_000_000, "nanoseconds", "auto", "1.50s"),
        (1_500_000_000, "ns", "ms", "1500ms"),
        (-3072, "bytes", "minimum", "-3kB"),
        (0, "seconds", "auto", "0"),
        (1, "ns", "s", "0"),
        (-1, "ns", "s", "0"),
        (7, "count", "auto", "7"),
        (7, "objects", "objects", "7objects"),
        (7, "ms", "kB", "0.01s"),
        (3600, "s", "auto", "1hrs"),
    ],
)
def test_label(value, unit, target, want):
    assert label(value, unit, target) == want


@given(st.integers(-(1 << 62), 1 << 62), st.sampled_from(UNITS), st.sampled_from(UNITS))
def test_scale_is_odd_and_keeps_known_quantities(value, unit, target):
    number, name = scale(value, unit, target)
    assert scale(-value, unit, target) == (-number, name)
    if name and comparable(unit, target):
        assert math.isclose(scale(1, name, unit)[0] * number, value, rel_tol=1e-12)


@pytest.mark.parametrize(
    ("value", "total", "want"),
    [
        (1, 1, "  100%"),
        (9994, 10_000, "99.94%"),
        (99_951, 100_000, "  100%"),
        (10_005, 10_000, "  100%"),
        (-1, 4, "25.00%"),
        (1, 400, " 0.25%"),
        (1, 300, " 0.33%"),
        (1, 10**8, "1e-06%"),
        (5, 0, "    0%"),
        (30, 10, "300.00%"),
    ],
)
def test_percentage(value, total, want):
    assert percentage(value, total) == want


@pytest.mark.parametrize(
    ("units", "want"),
    [
        (["ms", "ns", "s"], "ns"),
        (["nanoseconds", "ns"], "nanoseconds"),
        (["kb", "bytes"], "bytes"),
        (["count", "count"], "count"),
    ],
)
def test_common_unit(units, want):
    assert common_unit(units) == want


@pytest.mark.parametrize(
    ("one", "other", "want"),
    [("ms", "ns", True), ("ms", "bytes", False), ("x", "x", True), ("x", "y", False)],
)
def test_comparable(one, other, want):
    assert comparable(one, other) is want


@pytest.mark.parametrize(
    ("values", "unit", "want"),
    [
        ([0], "nanoseconds", ["0 ns"]),
        ([999, 1], "ns", ["999 ns", "1 ns"]),
        ([1500, 20], "ns", ["1.50 µs", "0.02 µs"]),
        ([12_345_678, -1], "nanoseconds", ["12.3 ms", "0.0 ms"]),
        ([7200], "seconds", ["7,200 s"]),
        ([1536, -1024], "bytes", ["1.50 KiB", "−1.00 KiB"]),
        ([500 << 20], "bytes", ["500 MiB"]),
        ([12_408], "count", ["12,408"]),
        ([1.25], "count", ["1.25"]),
        ([3], "frames", ["3 frames"]),
        ([1.5], "ns", ["2 ns"]),
    ],
)
def test_a_column_has_one_scale(values, unit, want):
    column = scale_for(values, unit)
    assert [column.text(value) for value in values] == want


@pytest.mark.parametrize(
    ("value", "want"), [(5, "+5"), (-5, "−5"), (0, "0"), (0.001, "0"), (-0.001, "0")]
)
def test_signs(value, want):
    assert Scale(1, "", 0).number(value, signed=True) == want


@pytest.mark.parametrize(
    ("value", "want"),
    [(0, "0.000"), (1, "0.001"), (0.4, "<0.001"), (1e-9, "<0.001"), (-0.4, "0.000")],
)
def test_a_value_is_never_printed_as_nothing(value, want):
    assert Scale(1e3, "µs", 3).nonzero(value) == want


def test_one_value():
    assert scaled(-2_500_000, "nanoseconds", signed=True) == "−2.50 ms"


@pytest.mark.parametrize(
    ("part", "whole", "signed", "want"),
    [
        (1, 8, False, "12.5%"),
        (1, 8, True, "+12.5%"),
        (-1, 8, False, "−12.5%"),
        (0, 8, True, "0%"),
        (1, 10_000, False, "<0.1%"),
        (3, 0, False, "–"),
        (30, 1, True, "+3,000%"),
        (9996, 10_000, False, "100%"),
    ],
)
def test_percent(part, whole, signed, want):
    assert percent(part, whole, signed=signed) == want


@pytest.mark.parametrize(
    ("ratio", "read", "multiplied"),
    [
        (0, "0×", "0×"),
        (3.2e-05, "1/31,000", "1/31,000"),
        (0.00032, "1/3,100", "1/3,100"),
        (0.00437, "1/230", "1/230"),
        (0.0437, "0.044×", "0.0437×"),
        (0.0949, "0.095×", "0.0949×"),
        (1.7349, "1.73×", "1.73×"),
        (9.996, "10.0×", "10×"),
        (17.349, "17.3×", "17.3×"),
        (99.97, "100×", "100×"),
        (999.9, "1,000×", "1,000×"),
        (29_500, "29,500×", "29,500×"),
    ],
)
def test_a_ratio_has_the_digits_of_its_place(ratio, read, multiplied):
    assert times(ratio) == read
    assert times(ratio, significant=3) == multiplied


@given(st.floats(1e-12, 1e12))
def test_a_ratio_never_reads_as_nothing_nor_as_a_power_of_ten(ratio):
    for text in (times(ratio), times(ratio, significant=3)):
        assert "e" not in text
        numbers = [float(n) for n in text.replace(",", "").rstrip("×").split("/")]
        value = numbers[0] / (numbers[1] if len(numbers) > 1 else 1)
        assert value == pytest.approx(ratio, rel=0.06)


@pytest.mark.parametrize(
    ("decimals", "value", "written"),
    [(0, 4.36, "4.4"), (0, 0.0951, "0.095"), (0, 3, "3"), (0, 43.6, "44"), (0, 0, "0"),
     (2, 0.0123, "0.012"), (2, 0.123, "0.12"), (2, -0.00123, "−0.0012")],
)  # fmt: skip
def test_a_small_value_next_to_a_large_one_keeps_two_digits(decimals, value, written):
    scale = Scale(1, "ms", decimals)
    assert scale.with_two_digits(value).number(value) == written


@pytest.mark.parametrize(
    ("value", "text"),
    [(4154.41, "4,154"), (4018.2, "4,018"), (20777.5, "20,780"), (52.4844, "52.48"),
     (9.9996, "10"), (500.0, "500"), (0.00123456, "0.001235"), (0, "0"), (1e6, "1,000,000")],
)  # fmt: skip
def test_measured_numbers_have_four_digits(value, text):
    assert rounded(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(4.5, "4.50"), (4.484, "4.48"), (450.2, "450"), (0.9996, "1.00"), (12, "12.0")]
)  # fmt: skip
def test_numbers_next_to_each_other_have_as_many_digits(value, text):
    assert rounded(value, 3, padded=True) == text
