"""The text of ``go tool pprof -peek``: functions between their callers and callees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pprofdiff.analysis.profiles.regexp import matcher
from pprofdiff.errors import UsageError
from pprofdiff.report.pprof.graph import graph, graph_edges, output_unit
from pprofdiff.report.pprof.top import node_values, report_header
from pprofdiff.report.pprof.view import ViewOptions, no_warning, text_of, view
from pprofdiff.units import label, percentage

if TYPE_CHECKING:
    from collections.abc import Callable

    from pprofdiff.model.profiles.profile import Profile

_RULE = "-" * 58 + "+" + "-" * 13
_COLUMNS = (
    f"{'flat':>10}{'flat%':>7}{'sum%':>7}{'cum':>11}{'cum%':>7}"
    f"{'calls':>8}{'calls%':>7} + context \t \t "
)


def render(
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
