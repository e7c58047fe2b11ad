"""Names and numbers in sentences: short, and true of what they name."""

from __future__ import annotations

import pytest

from pprofdiff.analysis.findings.wording import short, times


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("runtime.mallocgc", "runtime.mallocgc"),
        ("memeqbody", "memeqbody"),
        ("example.com/a/b.(*T).Run.func1", "b.(*T).Run.func1"),
        ("gopkg.in/yaml%2ev3.(*Decoder).Decode", "yaml.v3.(*Decoder).Decode"),
        ("github.com/x/lru/v2.(*Cache[go.shape.int,go.shape.struct { a/b.F string; G int }]).Add", "lru.(*Cache[int,…]).Add"),
        ("github.com/x/lru/v2.New", "lru.New"),
        ("example.com/v2/app.Map[...]", "app.Map[...]"),
        ("main.Map[go.shape.string,example.com/a/b.T]", "main.Map[string,b.T]"),
        ("main.Map[go.shape.*uint8].func1[go.shape.int]", "main.Map[*uint8].func1[int]"),
        ("main.F[go.shape.[]int]", "main.F[[]int]"),
        ("main.F[go.shape.func(int, string) (bool, error)]", "main.F[…]"),
        ("main.F[go.shape.map[string]int]", "main.F[map[string]int]"),
        ("main.broken[go.shape", "main.broken[go.shape"),
        ("v2.F", "v2.F"),
    ],
)  # fmt: skip
def test_a_short_name_keeps_its_package_and_no_shapes(name, said):
    assert short(name) == said


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (3.2e-05, "1/31,000"), (0.0009, "1/1,100"), (0.001, "0.001×"), (0.0056, "0.0056×"),
        (0.094, "0.094×"), (0.5, "0.50×"), (1.734, "1.73×"), (97.71, "97.7×"), (0.0, "0.00×"),
        (29_500.0, "29,500×"),
    ],
)  # fmt: skip
def test_ratios_read_without_exponents(ratio, said):
    assert times(ratio) == said
