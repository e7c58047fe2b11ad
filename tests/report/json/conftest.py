"""JSON reports as the command writes them."""

from __future__ import annotations

import json

import pytest

from pprofdiff.cli.main import main


def never(text):
    """Refuse what JSON has not."""
    pytest.fail(f"{text} in the report")


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """Return a function: words in, the JSON report out."""
    path = tmp_path_factory.mktemp("json") / "x.json"

    def write(*words):
        assert main([*map(str, words), "-q", f"-o={path}"]) == 0
        return json.loads(path.read_text("utf-8"), parse_constant=never)

    return write
