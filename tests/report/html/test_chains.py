"""Chains of waits on the page: the packed tree, and where the page has it."""

from __future__ import annotations

import json

import pytest

from pprofdiff import compare
from pprofdiff.analysis.call_tree import NO_CATEGORY, SEVERAL
from pprofdiff.analysis.chain_tree import KINDS, chain_tree
from pprofdiff.report.html.graphs import packed_chains
from pprofdiff.report.html.packing import embedded
from pprofdiff.report.html.page import render
from pprofdiff.report.model import report_of
from tests.traces.captured import FIELD, PAIRS, trace_pair

from .pages import Page
from .unpacking import shown_of, unpacked


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("budget", [2, 20, 3_000])
def test_the_script_reads_the_tree(name, budget):
    diff = trace_pair(name)
    chains, packed = chain_tree(diff, budget), packed_chains(diff, budget=budget)
    tree, ids = chains.tree, {NO_CATEGORY: None, SEVERAL: "several"}
    ids |= dict(enumerate(KINDS))
    columns = (tree.depth, tree.name, tree.folded, tree.base_self, tree.new_self)
    meant = [
        (depth, chains.names[row] if row >= 0 else None, folded, base, new, ids[kind])
        for depth, row, folded, base, new, kind in zip(
            *(column.tolist() for column in (*columns, tree.category)), strict=True
        )
    ]
    assert unpacked(json.loads(embedded(packed))) == meant
    texts = dict(zip(chains.names, chains.texts, strict=True))
    assert shown_of(packed) == [
        texts[one] for one in sorted({m[1] for m in meant} - {None})
    ]
    assert packed["totals"] == list(chains.totals)
    assert len(embedded(packed)) < 20_000


def page_of(folder):
    """Return the page of a pair of folders."""
    compared = compare(folder / "base", folder / "new")
    return Page(render(report_of(compared.comparison)))


def sections(page):
    """Return the ids of sections."""
    return [attrs.get("id") for tag, attrs in page.tags if tag == "section"]


def test_the_page_has_chart_table_and_chains_once():
    page = page_of(FIELD / "third-edge-one-lock")
    assert sections(page)[:4] == ["summary", "flame", "waits", "why"]
    assert [json.loads(data)["id"] for data in page.data].count("waits") == 1
    titled = page.text.split("Inputs")[0]
    assert titled.count("what goroutines waited for per op") == 1
    assert titled.count("Goroutines that do the work waited") == 2  # chart and caption
    assert "a#lanes" in {f"{t}{a.get('href')}" for t, a in page.tags}
