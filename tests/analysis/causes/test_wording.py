"""Names and numbers in sentences: short, and true of what they name."""

from __future__ import annotations

import pytest

from pprofdiff.analysis.causes.wording import listed_functions
from pprofdiff.units import times


def test_functions_of_one_list_do_not_read_alike():
    names = ["example.com/a/lru.New", "example.com/b/lru.New", "main.main"]
    assert listed_functions(names) == "a/lru.New, b/lru.New and main.main"
    versions = ["gopkg.in/yaml%2ev2.F", "gopkg.in/yaml%2ev3.F"]
    assert listed_functions(versions) == "yaml.v2.F and yaml.v3.F"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (3.2e-05, "1/31,000"), (0.0009, "1/1,100"), (0.001, "1/1,000"), (0.0056, "1/180"),
        (0.094, "0.094×"), (0.5, "0.50×"), (1.734, "1.73×"), (97.71, "97.7×"), (0.0, "0×"),
        (29_500.0, "29,500×"),
    ],
)  # fmt: skip
def test_ratios_read_without_exponents(ratio, said):
    assert times(ratio) == said
