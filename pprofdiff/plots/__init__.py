"""Charts of comparisons, with matplotlib: Axes in, Axes out.

Every plot takes a comparison, the Axes to draw on (``None`` for ``plt.gca()``) and a
`theme` for a ``light`` or ``dark`` background, and returns the Axes; `heaps_of` takes a
figure, for two Axes. ``**kwargs`` go to the Axes method that draws the values. Nothing
is shown or saved, and no global settings change. The module of ``plot`` has
``plot_in_words``, a sentence that says what it shows.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pprofdiff.plots.curveplot import curves as curves
    from pprofdiff.plots.drawing import image as image
    from pprofdiff.plots.drawing import svg as svg
    from pprofdiff.plots.durations import latency as latency
    from pprofdiff.plots.durations import pauses as pauses
    from pprofdiff.plots.flames import flamegraph as flamegraph
    from pprofdiff.plots.goroutines import states as states
    from pprofdiff.plots.heaps import heaps_of as heaps_of
    from pprofdiff.plots.mutators import mmu as mmu
    from pprofdiff.plots.pictures import picture as picture
    from pprofdiff.plots.profiles import movers as movers
    from pprofdiff.plots.profiles import waterfall as waterfall
    from pprofdiff.plots.runplot import runs as runs
    from pprofdiff.plots.waitbars import waits as waits

_MODULES = {
    "curves": "curveplot",
    "flamegraph": "flames",
    "heaps_of": "heaps",
    "image": "drawing",
    "latency": "durations",
    "mmu": "mutators",
    "movers": "profiles",
    "pauses": "durations",
    "picture": "pictures",
    "runs": "runplot",
    "states": "goroutines",
    "svg": "drawing",
    "waits": "waitbars",
    "waterfall": "profiles",
}
__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Import the module that defines a public name (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
