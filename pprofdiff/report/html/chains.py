"""Who waits for whom, for the page's script: chains of waits as a packed tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from pprofdiff.analysis.causes.traces import per
from pprofdiff.analysis.chain_tree import KINDS, chain_tree
from pprofdiff.analysis.traces.compare import TraceDiff
from pprofdiff.model.csr import distinct
from pprofdiff.plots.waitbars import END_STYLES
from pprofdiff.report.html.packing import Category, Drawn, document, quantum_of
from pprofdiff.units import scale_for

VIEW = "waits"
"""The address of the tree on the page, as of a flame graph."""

# Nodes that a page has room for: about 40 kB, and more than chains mostly have.
_BUDGET = 3_000


def packed_chains(diff: TraceDiff, *, budget: int = _BUDGET) -> dict[str, Any]:
    """Return the chains, grouped by kind of end, as the document of `flame.packed`."""
    chains = chain_tree(diff, budget)
    tree, totals = chains.tree, chains.totals
    styles = [END_STYLES[kind] for kind in KINDS]
    quantum = [quantum_of([own]) for own in (tree.base_self, tree.new_self)]
    drawn = Drawn(
        VIEW,
        "what goroutines waited for",
        (diff.base.label, diff.new.label),
        f"{per(diff)} of wall time" if diff.rates is None else per(diff),
        scale_for(diff.normalization.scaled(*totals), "ns"),
        diff.normalization,
        totals,
        [(style.group, style.words) for style in styles],
        [
            Category(kind, style.words, row)
            for row, (kind, style) in enumerate(zip(KINDS, styles, strict=True))
        ],
    )
    rows = distinct(tree.name[tree.name >= 0])
    place = np.zeros(len(chains.names) + 1, np.int64)
    place[rows] = np.arange(len(rows))
    names, texts = ([of[row] for row in rows] for of in (chains.names, chains.texts))
    return {
        **document(drawn, tree, place, names, texts, quantum),
        **dict.fromkeys(("marks", "functions", "reach", "hidden")),
        "was": {},
        "left": 0,
        "filters": [],
        "causes": [],
        "waits": True,
    }
