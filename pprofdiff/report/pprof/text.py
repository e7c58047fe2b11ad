"""The text of ``go tool pprof -top``, for one profile or for a difference.

Rows, order, columns and headers match pprof with ``-symbolize=none``, byte for byte,
except where pprof is wrong:

======  ==============================================================================
2.8.1   -normalize keeps samples whose only values are of types with ratio 1; pprof
        drops them.
2.8.3   -mean of a -diff_base is the difference of the two means, and its total is
        base's mean; pprof divides the net value by the net count.
2.8.7   Build IDs of one character are read; pprof panics.
2.8.8   Locations that differ only in the column of an inlined line stay apart;
        pprof's key overwrites that column.
2.8.9   The time of merged profiles is the earliest that any of them has; pprof
        prints none, or a later one, if a profile without a time follows.
2.8.10  Values above 2**53 are subtracted exactly; pprof passes them through float64.
2.8.11  Several -base or -diff_base are summed, like several new profiles; pprof takes
        only the last.
======  ==============================================================================

Control characters, which pprof prints as they are, are escaped: a name in a profile
must not move a terminal's cursor. Other names are those in the file; pprof without
``-symbolize=none`` also cuts argument lists out of some Go names that look like C++.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from pprofdiff.analysis.profiles.regexp import matcher
from pprofdiff.errors import UsageError
from pprofdiff.report.pprof.graph import Graph, graph, graph_edges, output_unit
from pprofdiff.report.pprof.view import (
    View,
    ViewOptions,
    header,
    no_warning,
    text_of,
    view,
)
from pprofdiff.units import label, percentage

if TYPE_CHECKING:
    from collections.abc import Callable

    from pprofdiff.model.profiles.profile import Profile


def top(
    profile: Profile, options: ViewOptions, warn: Callable[[str], None] = no_warning
) -> str:
    """Return the text of ``-top``, with a trailing newline.

    `warn` is called for filters that match nothing. Raises UsageError for options that
    cannot be used.
    """
    seen = view(profile, options, warn)
    drawn = graph(seen, options, trim=options.trim, nodecount=options.nodecount)
    unit = output_unit(seen, drawn, options.unit)
    lines = report_header(seen, drawn, unit, options)
    lines.append(f"{'flat':>10} {'flat':>5}% {'sum':>5}% {'cum':>10} {'cum':>5}%")
    flats = drawn.flat[drawn.shown].tolist()
    rows = zip(
        flats,
        accumulate(flats),
        drawn.cum[drawn.shown].tolist(),
        drawn.names,
        _inline_marks(seen, drawn),
        strict=True,
    )
    for flat, running, cum, name, mark in rows:
        lines.append(f"{node_values(seen, unit, flat, running, cum)}  {name}{mark}")
    return text_of(lines)


def node_values(seen: View, unit: str, flat: int, running: int, cum: int) -> str:
    """Return a node's flat, the sum of those so far, and its cum, as pprof does."""
    return (
        f"{label(flat, seen.unit, unit):>10} {percentage(flat, seen.total)} "
        f"{percentage(running, seen.total)} {label(cum, seen.unit, unit):>10} "
        f"{percentage(cum, seen.total)}"
    )


def report_header(
    seen: View, drawn: Graph, unit: str, options: ViewOptions
) -> list[str]:
    """Return the lines above a table of nodes."""
    shown = int(drawn.flat[drawn.shown].sum())
    share = percentage(shown, seen.total).strip()
    lines = header(seen, unit, options)
    lines.append(
        f"Showing nodes accounting for {label(shown, seen.unit, unit)}, {share} "
        f"of {label(seen.total, seen.unit, unit)} total"
    )
    if seen.total == 0:
        return lines
    if drawn.dropped:
        plural = "s" if drawn.dropped > 1 else ""
        cutoff = abs(int(float(seen.total) * options.nodefraction))
        lines.append(
            f"Dropped {drawn.dropped} node{plural} "
            f"(cum <= {label(cutoff, seen.unit, unit)})"
        )
    if 0 < len(drawn.shown) < drawn.nodes_before:
        lines.append(
            f"Showing top {len(drawn.shown)} nodes out of {drawn.nodes_before}"
        )
    return lines


def _inline_marks(seen: View, drawn: Graph) -> list[str]:
    offsets = seen.profile.locations.line_offsets
    inner = np.ones(len(drawn.line_nodes), np.bool_)
    inner[offsets[1:] - 1] = False
    size = len(drawn.nodes)
    wanted = np.zeros(size, np.bool_)
    wanted[drawn.shown] = True
    ever = np.zeros(size, np.bool_)
    ever[drawn.line_nodes[inner & (drawn.line_nodes >= 0)]] = True
    wanted &= ever
    if not wanted.any():
        return [""] * len(drawn.shown)
    calls = graph_edges(seen, drawn, np.zeros(size, np.bool_), wanted)
    inline, called = np.zeros(size, np.bool_), np.zeros(size, np.bool_)
    inline[calls.callee[calls.inline]] = True
    called[calls.callee[~calls.inline]] = True
    marks = np.array(["", " (inline)", " (partial-inline)"])
    return list(marks[np.where(inline, 1 + called, 0)[drawn.shown]])


_RULE = "-" * 58 + "+" + "-" * 13
_COLUMNS = (
    f"{'flat':>10}{'flat%':>7}{'sum%':>7}{'cum':>11}{'cum%':>7}"
    f"{'calls':>8}{'calls%':>7} + context \t \t "
)


def peek(
    profile: Profile,
    pattern: str,
    options: ViewOptions,
    warn: Callable[[str], None] = no_warning,
) -> str:
    """Return the text of ``-peek=<pattern>``, with a trailing newline, untrimmed.

    Raises UsageError if no function with a value matches.
    """
    matches = matcher(pattern, "peek")
    seen = view(profile, options, warn)
    drawn = graph(seen, options, trim=False, nodecount=0)
    unit = output_unit(seen, drawn, options.unit)
    places = [i for i, name in enumerate(drawn.names) if matches(name)]
    if not places:
        raise UsageError(f"no matches found for regexp: {pattern}")
    wanted = np.zeros(len(drawn.nodes), np.bool_)
    wanted[drawn.shown[places]] = True
    calls = graph_edges(seen, drawn, wanted, wanted)

    def lines_of(node: int, cum: int, role: str) -> list[str]:
        """Return the lines of all calls in which the node has this role."""
        rows = np.flatnonzero(getattr(calls, role) == node)
        others = calls.caller if role == "callee" else calls.callee
        items = sorted(
            (-abs(weight), drawn.nodes.printable(other), weight, inline)
            for other, weight, inline in zip(
                others[rows].tolist(),
                calls.weight[rows].tolist(),
                calls.inline[rows].tolist(),
                strict=True,
            )
        )
        return [
            f"{label(weight, seen.unit, unit):>50} "
            f"{percentage(weight, cum)} |   {name}{' (inline)' if inline else ''}"
            for _, name, weight, inline in items
        ]

    lines = report_header(seen, drawn, unit, options)
    lines += [_RULE, _COLUMNS]
    running = 0
    for place in places:
        node = int(drawn.shown[place])
        flat, cum = int(drawn.flat[node]), int(drawn.cum[node])
        running += flat
        lines += [_RULE, *lines_of(node, cum, "callee")]
        values = node_values(seen, unit, flat, running, cum)
        lines.append(f"{values}{'| ':>18}{drawn.names[place]}")
        lines += lines_of(node, cum, "caller")
    return text_of([*lines, _RULE])
