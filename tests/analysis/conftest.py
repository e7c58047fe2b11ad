"""A server's profiles, with and without leaks, captured once a session."""

from __future__ import annotations

from functools import partial

import pytest

from tests.analysis import growing
from tests.traces.toolchains import once, session


@pytest.fixture(scope="session")
def served():
    """Return {what it leaks: folder}; ``again`` is as ``none``, ``idle`` serves less."""
    kinds = {
        "none": {},
        "again": {},
        "idle": {"requests": 2500},
        "heap": {"leak": "heap"},
        "goroutines": {"leak": "goroutines"},
    }
    return {
        name: once(session() / f"growth-{name}", partial(growing.serve, **words))
        for name, words in kinds.items()
    }
