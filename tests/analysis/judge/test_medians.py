"""The weighted median is the median of values that stand there as often as they weigh."""

import numpy as np
from hypothesis import strategies as st

from pprofdiff.analysis.judge.scaling import weighted_median
from tests.analysis.building import given

WEIGHED = st.tuples(st.integers(-5, 5), st.integers(0, 6))


@given(
    of=st.lists(WEIGHED, min_size=1).filter(lambda of: any(weight for _, weight in of))
)
def test_it_is_the_median_of_repeated_values(of):
    values, weights = np.array(of, np.int64).T
    repeated = np.repeat(values, weights)
    middle = np.quantile(repeated, 0.5, method="inverted_cdf")
    assert weighted_median(values.astype(float), weights.astype(float)) == middle
