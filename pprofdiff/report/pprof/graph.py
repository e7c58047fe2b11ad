"""The call graph that ``go tool pprof`` prints: trimmed, ordered, in one unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from pprofdiff.analysis.ledger.graph import Edges, edges, flat_and_cum
from pprofdiff.analysis.profiles.nodes import Nodes, identify
from pprofdiff.units import scale

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pprofdiff.report.pprof.view import View, ViewOptions

    Column = NDArray[np.int64]


# pprof's -edgefraction: lighter calls do not say whether a function is inlined.
_EDGES = 0.001


@dataclass(frozen=True, eq=False)
class Graph:
    """The nodes to show, and what was left out.

    `shown` are nodes in report order and `names` their printed names. `flat` and `cum`
    (int64, by node) are the values to print. `line_nodes` (int64, by location line)
    leads to nodes, -1 to those that callers skip. `nodes_before` counts the nodes
    before -nodecount, `dropped` those below the cutoff.
    """

    nodes: Nodes
    line_nodes: Column
    shown: Column
    names: list[str]
    flat: Column
    cum: Column
    nodes_before: int
    dropped: int
    edge_cutoff: int


def graph(seen: View, options: ViewOptions) -> Graph:
    """Return the graph of a view at the options' granularity and limits."""
    nodes, ids = identify(seen.profile, options.granularity)
    line_nodes = ids.astype(np.int64)
    flat, cum = (
        sums[:, 0]
        for sums in flat_and_cum(
            seen.profile, line_nodes, len(nodes), seen.values[:, np.newaxis]
        )
    )
    alive = (flat != 0) | (cum != 0)
    total = float(int(flat[alive].sum())) if options.trim else 0.0
    kept = alive & (np.abs(cum) >= abs(int(total * options.nodefraction)))
    dropped = int(alive.sum()) - int(kept.sum())
    if dropped:
        line_nodes = np.where(kept[line_nodes], line_nodes, -1)
    shown, names = _ordered(nodes, np.flatnonzero(kept), flat, cum, options.sort)
    before = len(shown)
    if options.trim and 0 < options.nodecount < before:
        shown, names = shown[: options.nodecount], names[: options.nodecount]
        chosen = np.zeros(len(nodes) + 1, np.bool_)
        chosen[shown] = True
        line_nodes = np.where(chosen[line_nodes], line_nodes, -1)
    return Graph(
        nodes=nodes,
        line_nodes=line_nodes,
        shown=shown,
        names=names,
        flat=flat,
        cum=cum,
        nodes_before=before,
        dropped=dropped,
        edge_cutoff=abs(int(total * _EDGES)),
    )


def _ordered(
    nodes: Nodes, rows: Column, flat: Column, cum: Column, sort: Literal["flat", "cum"]
) -> tuple[Column, list[str]]:
    """Return nodes by descending value, then name, then the other value; and names."""
    first, second = (cum, flat) if sort == "cum" else (flat, cum)
    ranked = sorted(
        zip(
            (-np.abs(first[rows])).tolist(),
            [nodes.printable(row) for row in rows.tolist()],
            (-np.abs(second[rows])).tolist(),
            rows.tolist(),
            strict=True,
        )
    )
    order = np.array([row for *_, row in ranked], np.int64)
    return order, [name for _, name, _, _ in ranked]


def calls_of(seen: View, drawn: Graph, callees: NDArray[np.bool_]) -> Edges:
    """Return the edges to `callees`, without those that pprof leaves out."""
    calls = edges(
        seen.profile,
        drawn.line_nodes,
        seen.values,
        counted=seen.values != 0,
        callees=callees,
    )
    shown = np.zeros(len(drawn.nodes), np.bool_)
    shown[drawn.shown] = True
    light = np.abs(calls.weight) < drawn.edge_cutoff
    return calls.take(~(light & shown[calls.callee]))


def output_unit(seen: View, drawn: Graph) -> str:
    """Return the unit of a report's values, the one that fits best.

    It is the unit of the smallest value, or of 100 times it if the total is larger than
    that and has another unit.
    """
    if not len(drawn.shown):
        return "minimum"
    flat = np.abs(drawn.flat[drawn.shown])
    least = np.where(flat == 0, np.abs(drawn.cum[drawn.shown]), flat)
    least = least[least > 0]
    smallest = int(least.min()) if len(least) else seen.total
    unit = scale(smallest, seen.unit, "minimum")[1]
    largest_unit = scale(seen.total, seen.unit, "minimum")[1]
    if unit != largest_unit and smallest * 100 < seen.total:
        unit = scale(100 * smallest, seen.unit, "minimum")[1]
    return unit or seen.unit
