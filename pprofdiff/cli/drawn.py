"""Parts of a report on the screen: drawn on a terminal, plain everywhere else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pprofdiff.cli.screen import Screen
from pprofdiff.report.rows import Part

if TYPE_CHECKING:
    from pprofdiff.report.text.layout import Block

__all__ = ["draw"]


def draw(parts: Sequence[Part | Block], color: str, screen: Screen) -> None:
    """Put parts on the screen; `color` is auto, always or never."""
    if not parts:
        return
    colored, terminal = screen.wants_color(color), screen.out.isatty()
    if colored or terminal:
        from pprofdiff.report.text.terminal import render as drawn

        screen.write(drawn(parts, color=colored, fit=terminal))
        return
    from pprofdiff.report.text.plain import render

    screen.write(render(parts))
