"""On every pair: what people read distinguishes functions, and names a former one once."""

import json
import re

import pytest

from pprofdiff.goruntime.readable import distinct_names
from pprofdiff.plots.flames import BUDGET
from pprofdiff.report.html.flame import packed
from pprofdiff.report.json.document import render as in_json
from pprofdiff.report.markdown.comment import render as comment
from pprofdiff.report.model import Scope
from pprofdiff.report.rows import Table
from pprofdiff.report.sections import sections
from pprofdiff.report.text.lines import render as plain
from tests.field.cases import CASES, each, report
from tests.report.html.unpacking import names_of, shown_of

cases = each(CASES)


def tables(case):
    """Return the tables whose rows are named by the program, with many rows."""
    for section in sections(report(case), Scope(rows=100)):
        for part in section.parts:
            if isinstance(part, Table) and part.code:
                yield part


@pytest.mark.matrix
@cases
def test_no_two_rows_of_a_table_read_alike(case):
    for table in tables(case):
        cells = [row.cells[table.names] for row in table.rows]
        whole = {}
        for cell, row in zip(cells, table.rows, strict=True):
            assert whole.setdefault(cell.text, row.key) == row.key, table.title


@pytest.mark.matrix
@cases
def test_what_a_row_leaves_out_is_next_to_it(case):
    for table in tables(case):
        for row in table.rows:
            cell = row.cells[table.names]
            name = re.split(r" \((?:probably )?was ", cell.full)[0] or cell.text
            assert name == row.key


@pytest.mark.matrix
@cases
def test_a_name_has_no_escapes_and_no_shapes(case):
    for table in tables(case):
        for row in table.rows:
            label = row.cells[table.names].label
            assert not re.search(r"%[0-9a-f]{2}|\.\.\.|go\.shape\.\*", label)


@pytest.mark.matrix
@cases
def test_no_two_functions_of_a_flame_graph_read_alike(case):
    for section in sections(report(case)):
        if section.diff is None:
            continue
        document = packed(section.diff, budget=BUDGET)
        names = names_of(document)
        texts = shown_of(document)
        assert len(set(texts)) == len(names)
        assert texts == distinct_names(names)


@pytest.mark.matrix
@cases
def test_a_former_name_stands_once_in_a_line(case):
    got = report(case)
    parts = [part for section in sections(got) for part in section.parts]
    for text in (plain(parts), comment(got)):
        for line in text.splitlines():
            assert line.count("(was ") <= 1, line


@pytest.mark.matrix
@cases
def test_programs_get_the_whole_names(case):
    got = report(case)
    functions = {
        (one["name"], one["sample_type"]): one["functions"]
        for one in json.loads(in_json(got))["comparisons"]
        if one["kind"] == "profile"
    }
    for section in sections(got):
        if section.diff is not None:
            diff = section.diff
            rows = functions[diff.name, diff.sample_type.type]
            assert {row["name"] for row in rows} == set(diff.table("functions").names)
