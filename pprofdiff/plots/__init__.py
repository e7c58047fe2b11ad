"""Charts of comparisons, with matplotlib: Axes in, Axes out.

Every plot takes a comparison (or one side of it), the Axes to draw on (``None`` for
``plt.gca()``) and a `theme` for a ``light`` or ``dark`` background, and returns the
Axes. ``**kwargs`` go to the Axes method that draws the values. Nothing is shown or
saved, and no global settings change. ``plot_in_words`` says in a sentence what ``plot``
shows. `svg` and `image` render drawings to files, `picture` renders a whole comparison,
`charts` and `run_charts` render the charts of the HTML page.

matplotlib is imported on first use, so importing this package is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pprofdiff.plots.buildbars import builds, builds_in_words
    from pprofdiff.plots.curveplot import curves, curves_in_words
    from pprofdiff.plots.drawing import chart_css, image, svg
    from pprofdiff.plots.durations import (
        latency,
        latency_in_words,
        pauses,
        pauses_in_words,
    )
    from pprofdiff.plots.flames import flamegraph, flamegraph_in_words
    from pprofdiff.plots.goroutines import states, states_in_words
    from pprofdiff.plots.heaps import heap, heap_in_words, heaps_of
    from pprofdiff.plots.lanes import moment, moment_in_words
    from pprofdiff.plots.mutators import mmu, mmu_in_words
    from pprofdiff.plots.pagecharts import Chart, charts, run_charts
    from pprofdiff.plots.pictures import picture
    from pprofdiff.plots.profiles import (
        movers,
        movers_in_words,
        waterfall,
        waterfall_in_words,
    )
    from pprofdiff.plots.runplot import runs, runs_in_words
    from pprofdiff.plots.scatterplot import scatter, scatter_in_words
    from pprofdiff.plots.waitbars import END_STYLES, waits, waits_in_words

__all__ = [
    "END_STYLES",
    "Chart",
    "builds",
    "builds_in_words",
    "chart_css",
    "charts",
    "curves",
    "curves_in_words",
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
    "moment",
    "moment_in_words",
    "movers",
    "movers_in_words",
    "pauses",
    "pauses_in_words",
    "picture",
    "run_charts",
    "runs",
    "runs_in_words",
    "scatter",
    "scatter_in_words",
    "states",
    "states_in_words",
    "svg",
    "waits",
    "waits_in_words",
    "waterfall",
    "waterfall_in_words",
]

_MODULES = {
    "buildbars": ("builds", "builds_in_words"),
    "curveplot": ("curves", "curves_in_words"),
    "drawing": ("chart_css", "image", "svg"),
    "durations": ("latency", "latency_in_words", "pauses", "pauses_in_words"),
    "flames": ("flamegraph", "flamegraph_in_words"),
    "goroutines": ("states", "states_in_words"),
    "heaps": ("heap", "heap_in_words", "heaps_of"),
    "lanes": ("moment", "moment_in_words"),
    "mutators": ("mmu", "mmu_in_words"),
    "pagecharts": ("Chart", "charts", "run_charts"),
    "pictures": ("picture",),
    "profiles": ("movers", "movers_in_words", "waterfall", "waterfall_in_words"),
    "runplot": ("runs", "runs_in_words"),
    "scatterplot": ("scatter", "scatter_in_words"),
    "waitbars": ("END_STYLES", "waits", "waits_in_words"),
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Import the module that defines a public name (PEP 562)."""
    for module, names in _MODULES.items():
        if name in names:
            value = getattr(import_module(f"{__name__}.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
