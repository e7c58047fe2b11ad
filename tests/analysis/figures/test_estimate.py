"""Estimates: the ratio is of the figures, the interval of the judged logarithms."""

from math import exp, log

import pytest
from hypothesis import strategies as st

from pprofdiff.analysis.figures.estimate import of_ratio
from pprofdiff.analysis.judge.judgement import Change
from tests.analysis.building import given

SIZES = st.none() | st.floats(0, 1e9)


@given(SIZES, SIZES, st.floats(0, 3), st.sampled_from([True, False, None]))
def test_what_is_known_is_kept_and_nothing_made_up(base, new, reach, noise):
    alone = of_ratio(base, new, None)
    assert alone[:2] == (base, new)
    assert (alone.ratio is None) == (not base or new is None)
    assert alone.bounds is None
    assert not alone.significant
    assert alone.grew == (base is not None and new is not None and new > base)
    if base and new:
        delta = log(new) - log(base)
        known = Change(delta, delta - reach, delta + reach, None, noise)
        judged = of_ratio(base, new, known)
        assert judged.ratio == alone.ratio
        assert judged.bounds == pytest.approx((exp(delta - reach), exp(delta + reach)))
        assert judged.mark == known.mark
