"""A server's profiles, with and without leaks, captured once a session."""

from __future__ import annotations

import pytest

from tests.analysis import growing


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """Return {what it leaks: folder}; ``again`` is as ``none``, ``idle`` serves less."""
    root = tmp_path_factory.mktemp("growth")
    kinds = {
        "none": {},
        "again": {},
        "idle": {"requests": 2500},
        "heap": {"leak": "heap"},
        "goroutines": {"leak": "goroutines"},
    }
    return {name: growing.serve(root / name, **words) for name, words in kinds.items()}
