"""Objects stand next to bytes, and by themselves where no bytes are compared."""

from __future__ import annotations

import pytest

import pprofdiff
from pprofdiff.analysis.profiles.dimensions import by_leaf
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
    sums = by_leaf(diff.data.ledger)
    if counted == "alloc_objects":
        # Since the process began, of unknown operations: percent of each side's.
        base, new = diff.data.totals
        most = abs(100 * sums.new / new - 100 * sums.base / base).max()
    else:
        most = abs(sums.new - sums.base).max()
    delta = abs(table.rows[0].cells[table.place("delta")].value)
    assert delta == pytest.approx(most, rel=1e-12)
    # An object has no size without the bytes.
    assert "pair" not in {column.role for column in table.columns}
    assert "By call site" in diff.to_text()


@pytest.mark.slow
@pytest.mark.parametrize("work", [None, (13146800, 11445600)], ids=["unknown", "known"])
def test_objects_next_to_bytes_compare_as_they_do_by_themselves(work):
    sides = (DATA / "syncpool" / side for side in ("base", "new"))
    both = pprofdiff.compare(*sides, work=work)
    bytes_, objects = both["allocs"], both["allocs/alloc_objects"]
    (section,) = [s for s in sections(both.report()) if s.id == "allocs/alloc_space"]
    (table,) = [part for part in section.parts if isinstance(part, Table)]
    place = next(i for i, c in enumerate(table.columns) if c.text == "objects")
    sums, by = by_leaf(objects.data.ledger), objects.data.normalization
    names = objects.data.paired_functions.names
    row = names.index("example.com/workloads/syncpool/ingest.readBody")
    (at,) = (i for i, leaf in enumerate(sums["leaf"].tolist()) if leaf == row)
    scaled = by.scaled(int(sums.base[at]), int(sums.new[at]))
    (cell,) = [
        r.cells[place].text for r in table.rows if r.key.endswith("ingest.readBody")
    ]
    assert bytes_.data.normalization.mode == ("per_work" if work else "about")
    numbers = [float(part.replace("k", "e3")) for part in cell.split(" → ")]
    assert numbers == pytest.approx(scaled, rel=0.05)


@pytest.mark.slow
def test_in_a_folder_objects_are_reported_with_the_bytes():
    both = pprofdiff.compare(DATA / "syncpool/base", DATA / "syncpool/new")
    names = [section.id for section in sections(both.report())]
    assert "allocs/alloc_space" in names
    assert [name for name in names if name.endswith("_objects")] == []
    assert "alloc_objects" in both["allocs/alloc_objects"].to_text()
