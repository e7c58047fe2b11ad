"""Charts of comparisons, with matplotlib: Axes in, Axes out.

Every plot takes a comparison (or one side of it) and ``ax=None``, which is
``plt.gca()``; it draws there and returns the Axes. `theme` chooses the colours, light
or dark. Nothing is shown, saved or set for other plots, and ``**kwargs`` reach the Axes
method that draws the values. Each has a twin ``…_in_words`` that tells its
numbers in a sentence. `svg` and `image` make files of drawings, `charts` makes what
the page shows.

matplotlib is imported when something is drawn: importing this is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pprofdiff.plots.drawing import chart_css, image, svg
    from pprofdiff.plots.flames import flamegraph, flamegraph_in_words
    from pprofdiff.plots.goroutines import states, states_in_words
    from pprofdiff.plots.heaps import heap, heap_in_words, heaps_of
    from pprofdiff.plots.mutators import mmu, mmu_in_words
    from pprofdiff.plots.page import Chart, charts
    from pprofdiff.plots.pairs import scatter, scatter_in_words
    from pprofdiff.plots.profiles import (
        movers,
        movers_in_words,
        waterfall,
        waterfall_in_words,
    )
    from pprofdiff.plots.stacked import builds, builds_in_words
    from pprofdiff.plots.summary import picture
    from pprofdiff.plots.tails import (
        latency,
        latency_in_words,
        pauses,
        pauses_in_words,
    )

__all__ = [
    "Chart",
    "builds",
    "builds_in_words",
    "chart_css",
    "charts",
    "flamegraph",
    "flamegraph_in_words",
    "heap",
    "heap_in_words",
    "heaps_of",
    "image",
    "latency",
    "latency_in_words",
    "mmu",
    "mmu_in_words",
    "movers",
    "movers_in_words",
    "pauses",
    "pauses_in_words",
    "picture",
    "scatter",
    "scatter_in_words",
    "states",
    "states_in_words",
    "svg",
    "waterfall",
    "waterfall_in_words",
]

_HOMES = {
    "drawing": ("chart_css", "image", "svg"),
    "flames": ("flamegraph",),
    "goroutines": ("states",),
    "heaps": ("heap", "heaps_of"),
    "mutators": ("mmu",),
    "page": ("Chart", "charts"),
    "pairs": ("scatter",),
    "profiles": ("movers", "waterfall"),
    "stacked": ("builds",),
    "summary": ("picture",),
    "tails": ("latency", "pauses"),
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Import the module that defines a public name (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    plot = name.removesuffix("_in_words")
    home = next(module for module, names in _HOMES.items() if plot in names)
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
