"""What stands first on each pair is what ``score.txt`` has.

``PPROFDIFF_GOLDEN=write`` writes it anew, for a look at what a change made of it.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from pprofdiff.report.json.document import render
from tests.field.capture import PAIRS
from tests.field.cases import CASES, compared
from tests.field.scoring import JUDGEMENTS, score

SCORE = Path(__file__).parent / "score.txt"


def judgements():
    """Return (judgement, name) of each pair that is not kept aside, by name."""
    table = {}
    for case in CASES:
        pair = PAIRS / case.name / "pair.toml"
        if pair.exists():
            told = json.loads(render(compared(case).report()))
            said = score(tomllib.loads(pair.read_text("utf-8")), told)
            table[case.name] = said.judgement
    return table


def written(table):
    """Return the table as the file has it: a line a pair, then how many of each."""
    counts = Counter(table.values())
    told = ", ".join(f"{counts[word]} {word}" for word in JUDGEMENTS)
    lines = [f"{judgement:6}  {name}" for name, judgement in sorted(table.items())]
    return "\n".join([*lines, "", f"{len(table)} pairs: {told}", ""])


@pytest.mark.slow
def test_what_stands_first_is_as_it_was():
    text = written(judgements())
    if os.environ.get("PPROFDIFF_GOLDEN") == "write":
        SCORE.write_text(text, "utf-8")
        pytest.skip("written; look at the difference")
    assert text.splitlines() == SCORE.read_text("utf-8").splitlines()
