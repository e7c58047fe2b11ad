"""What stands first on each pair is what ``score.txt`` has.

``PPROFDIFF_GOLDEN=write`` writes it anew, for a look at what a change made of it.
"""

import json
import os
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from pprofdiff.report.json.document import render
from tests.field.capture import PAIRS
from tests.field.cases import CASES, each, report
from tests.field.scoring import JUDGEMENTS, score

SCORE = Path(__file__).parent / "score.txt"
FIELD = [case for case in CASES if (PAIRS / case.name / "pair.toml").exists()]


def judgement(case):
    """Return how right the report on a pair is."""
    truth = tomllib.loads((PAIRS / case.name / "pair.toml").read_text("utf-8"))
    return score(truth, json.loads(render(report(case)))).judgement


def kept():
    """Return (judgement by name, the last line) of the file."""
    *lines, _, last = SCORE.read_text("utf-8").splitlines()
    return dict(line.split()[::-1] for line in lines), last


def counted(table):
    """Return the last line: how many of each there are."""
    counts = Counter(table.values())
    got = ", ".join(f"{counts[word]} {word}" for word in JUDGEMENTS)
    return f"{len(table)} pairs: {got}"


@each(FIELD)
def test_what_stands_first_is_as_it_was(case):
    assert kept()[0][case.name] == judgement(case)


def test_the_file_has_every_pair_and_counts_them():
    if os.environ.get("PPROFDIFF_GOLDEN") == "write":
        table = {case.name: judgement(case) for case in FIELD}
        lines = [f"{table[name]:6}  {name}" for name in sorted(table)]
        SCORE.write_text("\n".join([*lines, "", counted(table), ""]), "utf-8")
        pytest.skip("written; look at the difference")
    table, last = kept()
    assert list(table) == sorted(case.name for case in FIELD)
    assert last == counted(table)
