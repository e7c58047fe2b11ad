"""Folded stacks, written as a profile: ``go tool pprof`` prints our tables of them."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from pprofdiff.loaders.profiles import pprof as proto
from pprofdiff.loaders.profiles.folded import decode
from tests.parity.pprof_oracle import alike

DATA = Path(__file__).parents[1] / "data/python"


@pytest.fixture(scope="module")
def sides():
    return [decode((DATA / f"{side}.folded").read_bytes()) for side in ("base", "new")]


@pytest.mark.parametrize(
    "options",
    [
        {}, {"sort": "cum"}, {"granularity": "lines"}, {"granularity": "files"},
        {"focus": "discount"}, {"nodecount": 7, "trim": False}, {"peek": "compile"},
    ],
    ids=str,
)  # fmt: skip
def test_tables_equal(pprof, sides, options):
    base, new = sides
    alike(pprof, [new], [base], **options)


def test_the_diff_that_is_written_is_the_one_that_pprof_makes(pprof, sides, tmp_path):
    out = tmp_path / "diff.pb.gz"
    paths = [str(DATA / f"{side}.folded") for side in ("base", "new")]
    subprocess.run(
        [sys.executable, "-m", "pprofdiff", *paths, "-o", str(out)],
        check=True, capture_output=True,
    )  # fmt: skip
    written = proto.decode(gzip.decompress(out.read_bytes()))
    base, new = sides
    assert rows(pprof.text([written])) == rows(pprof.text([new], [base]))


def rows(text):
    """Return flat, cum and name of a table's rows, without zeros."""
    table = [line.split(maxsplit=5) for line in text.splitlines()]
    cells = {(row[0], row[3], row[5]) for row in table[3:]}
    return {cell for cell in cells if cell[:2] != ("0", "0")}
