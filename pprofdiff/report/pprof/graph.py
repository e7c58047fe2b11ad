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


@dataclass(frozen=True, eq=False)
class Graph:
    """The nodes to show, and what was left out.

    `shown` are nodes in report order, `names` their printed names, `flat` and `cum`
    (int64, by node) the values to print. `line_nodes` (int64, by location line) leads
    to nodes, -1 to those that callers skip. `nodes_before` counts the nodes before
    -nodecount, `dropped` those below the cutoff.
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


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums by node: `flat` and `cum` decide what is shown, `*_printed` are printed."""

    flat: Column
    cum: Column
    flat_printed: Column
    cum_printed: Column


def graph(seen: View, options: ViewOptions, *, trim: bool, nodecount: int) -> Graph:
    """Return the graph of a view at the options' granularity and limits.

    Without `trim`, every node with a value stays; `nodecount` 0 or less is no limit.
    """
    nodes, ids = identify(seen.profile, options.granularity)
    line_nodes = ids.astype(np.int64)
    sums, net = _summed(seen, line_nodes, len(nodes))
    alive = (sums.flat != 0) | (sums.cum != 0)
    if options.drop_negative:
        alive &= ~((sums.flat < 0) | ((sums.flat == 0) & (sums.cum < 0)))
    total = float(int(net.flat[alive].sum())) if trim else 0.0
    cutoff = abs(int(total * options.nodefraction))
    kept = alive & (np.abs(net.cum) >= cutoff)
    dropped = int(alive.sum()) - int(kept.sum())
    if dropped:
        line_nodes = np.where(kept[line_nodes], line_nodes, -1)
    shown, names = _ordered(nodes, np.flatnonzero(kept), sums, options.sort)
    before = len(shown)
    if trim and 0 < nodecount < before:
        shown, names = shown[:nodecount], names[:nodecount]
        chosen = np.zeros(len(nodes) + 1, np.bool_)
        chosen[shown] = True
        line_nodes = np.where(chosen[line_nodes], line_nodes, -1)
    return Graph(
        nodes=nodes,
        line_nodes=line_nodes,
        shown=shown,
        names=names,
        flat=sums.flat_printed,
        cum=sums.cum_printed,
        nodes_before=before,
        dropped=dropped,
        edge_cutoff=abs(int(total * options.edgefraction)),
    )


def _summed(seen: View, line_nodes: Column, size: int) -> tuple[_Sums, _Sums]:
    """Return the sums that order the report, and the net ones that cutoffs use."""
    columns = [seen.values]
    if seen.divisors is not None:
        columns.append(seen.divisors)
    of_each = seen.divisors is not None and bool(seen.is_base.any())
    if of_each:
        columns += [column * seen.is_base for column in columns]
    flat, cum = flat_and_cum(seen.profile, line_nodes, size, np.stack(columns, axis=1))
    net = _Sums(flat[:, 0], cum[:, 0], flat[:, 0], cum[:, 0])
    if of_each:
        means = [_of_each(sums) for sums in (flat, cum)]
        return _Sums(means[0], means[1], means[0], means[1]), net
    if seen.divisors is None:
        return net, net
    printed = [_quotient(sums[:, 0], sums[:, 1]) for sums in (flat, cum)]
    return _Sums(flat[:, 0], cum[:, 0], printed[0], printed[1]), net


def _of_each(sums: Column) -> Column:
    """Return new's mean less base's, from (net, count, base's net, base's count).

    pprof divides the net value by the net count instead (deviation 2.8.3).
    """
    value, count, base_value, base_count = sums.T
    new = _quotient(value - base_value, count - base_count)
    return new - _quotient(-base_value, -base_count)


def _quotient(values: Column, counts: Column) -> Column:
    """Return values / counts rounded towards 0 as in Go; values where count is 0."""
    some = np.where(counts == 0, 1, counts)
    signs = np.sign(values) * np.sign(some)
    quotients: Column = signs * (np.abs(values) // np.abs(some))
    return quotients


def _ordered(
    nodes: Nodes, rows: Column, sums: _Sums, sort: Literal["flat", "cum"]
) -> tuple[Column, list[str]]:
    """Return nodes by descending value, then name, then the other value; and names."""
    first, second = (sums.cum, sums.flat) if sort == "cum" else (sums.flat, sums.cum)
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


def graph_edges(
    seen: View, drawn: Graph, callers: NDArray[np.bool_], callees: NDArray[np.bool_]
) -> Edges:
    """Return the edges from `callers` and to `callees`, without those cut off."""
    counted = seen.values != 0
    if seen.divisors is not None:
        counted |= seen.divisors != 0
    size = len(drawn.nodes)
    calls = edges(
        seen.profile,
        drawn.line_nodes,
        seen.values,
        counted=counted,
        callers=callers,
        callees=callees,
    )
    if not drawn.edge_cutoff:
        return calls
    shown = np.zeros(size, np.bool_)
    shown[drawn.shown] = True
    light = np.abs(calls.weight) < drawn.edge_cutoff
    return calls.take(~(light & shown[calls.callee]))


def output_unit(seen: View, drawn: Graph, asked: str) -> str:
    """Return the unit of a report's values; ``minimum`` picks one that fits best."""
    if asked != "minimum" or not len(drawn.shown):
        return asked
    flat = np.abs(drawn.flat[drawn.shown])
    least = np.where(flat == 0, np.abs(drawn.cum[drawn.shown]), flat)
    least = least[least > 0]
    smallest = int(least.min()) if len(least) else seen.total
    unit = scale(smallest, seen.unit, "minimum")[1]
    largest_unit = scale(seen.total, seen.unit, "minimum")[1]
    if unit != largest_unit and smallest * 100 < seen.total:
        unit = scale(100 * smallest, seen.unit, "minimum")[1]
    return unit or seen.unit
