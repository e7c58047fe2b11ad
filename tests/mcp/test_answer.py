"""A budget is kept, and a larger one only adds."""

from __future__ import annotations

import json
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pprofdiff.api import compare
from pprofdiff.mcp.answer import answer_of
from pprofdiff.report.brief import render
from tests.conftest import DATA

LINES = (
    *("outcome", "bisection", "gate", "not_known"),
    *("units", "account", "changed", "others"),
)


@cache
def brief(story):
    """Return the brief of a story."""
    both = compare(DATA / story / "base", DATA / story / "new")
    return json.loads(render(both.report()))


@pytest.mark.parametrize("story", ["syncpool", "zstd"])
@given(st.integers(300, 3_000), st.integers(0, 1_000))
def test_answers_fit_and_grow(story, tokens, more):
    whole, links = brief(story), {"page": "p", "json": "j"}
    small, large = (answer_of(whole, links, n) for n in (tokens, tokens + more))
    assert len(json.dumps(small, ensure_ascii=False).encode()) <= 3 * tokens
    left = small.get("left_out", {})
    for name in ("causes", *LINES):
        kept, grown = small.get(name, []), large.get(name, [])
        assert len(kept) + left.get(name, 0) == len(whole[name])
        if name == "causes":
            kept, grown = ([one["title"] for one in many] for many in (kept, grown))
            assert kept == [one["title"] for one in whole[name]][: len(kept)]
        else:
            assert kept == whole[name][: len(kept)]
        assert grown[: len(kept)] == kept
