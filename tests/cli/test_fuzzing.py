"""Mutated profiles: every report is written, or one line says what is wrong.

`tests.cli.fuzzing` runs more of them.
"""

import pytest

from tests.cli.fuzzing import faults
from tests.examples import examples

# The first negative durations, which once had a logarithm asked of them.
NEGATIVE = 2191


@pytest.mark.slow
@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.whole), NEGATIVE])
def test_mutated_profiles_are_compared_or_refused(seed, tmp_path):
    assert list(faults(seed, 12 if seed == 0 else 1, tmp_path)) == []


@pytest.mark.whole
@pytest.mark.slow
def test_more_mutated_profiles(tmp_path):
    assert list(faults(100_000, examples(150), tmp_path)) == []
