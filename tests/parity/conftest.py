"""The fixture that runs Go's pprof, and the marker that says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parity.pprof_oracle import Pprof
from tests.repository import go


def pytest_collection_modifyitems(items):
    """All tests here run Go."""
    here = Path(__file__).parent
    for item in items:
        if here in Path(item.path).parents:
            item.add_marker(pytest.mark.go)


@pytest.fixture(scope="session")
def pprof(tmp_path_factory):
    """Return pprof; the path of the tool itself is asked for once."""
    program = go("tool", "-n", "pprof").strip()
    return Pprof(program, tmp_path_factory.mktemp("pprof"))
