"""Objects stand beside bytes, and by themselves where no bytes are compared."""

from __future__ import annotations

import pytest

import pprofdiff
from pprofdiff.report.rows import Table
from pprofdiff.report.sections import sections
from tests.conftest import DATA


def shown(name, sample_type):
    base, new = (DATA / "syncpool" / side / name for side in ("base", "new"))
    return pprofdiff.diff(base, new, sample_type=sample_type)


def call_sites(diff):
    """Return the one table of the one section."""
    (section,) = sections(diff.report())
    assert section.diff is diff.data
    (table,) = [part for part in section.parts if isinstance(part, Table)]
    assert table.key == "call_sites"
    return table


@pytest.mark.parametrize("name", ["allocs.pb.gz", "heap.pb.gz"])
@pytest.mark.parametrize("counted", ["alloc_objects", "inuse_objects"])
def test_objects_alone_have_a_section(name, counted):
    diff = shown(name, counted)
    table = call_sites(diff)
    sums = diff.data.leaf_sums
    most = abs(sums.new - sums.base).max()
    assert abs(table.rows[0].cells[table.place("delta")].value) == most
    # An object has no size without the bytes.
    pairs = [i for i, c in enumerate(table.columns) if c.role == "pair"]
    assert {row.cells[i].text for row in table.rows for i in pairs} == {""}
    assert "By call site" in diff.to_text()


def test_in_a_folder_objects_are_told_with_the_bytes():
    both = pprofdiff.compare(DATA / "syncpool/base", DATA / "syncpool/new")
    names = [section.id for section in sections(both.report())]
    assert "allocs/alloc_space" in names
    assert [name for name in names if name.endswith("_objects")] == []
    assert "alloc_objects" in both["allocs/alloc_objects"].to_text()
