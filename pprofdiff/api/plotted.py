"""The plots of `pprofdiff.plots` as methods.

Each takes ``ax=None``, meaning ``plt.gca()``, and the plot's own options, and returns
the Axes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pprofdiff import plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pprofdiff.analysis.profiles.diff import ProfileDiff
    from pprofdiff.analysis.traces.compare import TraceDiff
    from pprofdiff.analysis.traces.moments import MomentId
    from pprofdiff.notebook.flames import FlameGraph


def plotted(name: str, what: str) -> Callable[..., Axes]:
    """Return a method that plots its object with `plots.<name>`; `what` it shows."""

    def method(self: object, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        drawn: Axes = getattr(plots, name)(self, ax, **options)
        return drawn

    method.__doc__ = f"Plot {what}; see `plots.{name}`."
    return method


class PlottedProfiles:
    """Plots of two profiles."""

    __slots__ = ()

    @property
    @abstractmethod
    def drawable(self) -> ProfileDiff:
        """What is drawn."""

    plot_top = plotted("movers", "the functions that changed most")
    plot_waterfall = plotted("waterfall", "how base's total becomes new's")
    plot_scatter = plotted("scatter", "each function in new against base")
    plot_flamegraph = plotted("flamegraph", "both sides' stacks as one flame graph")

    def flamegraph(self, height: int = 560, *, budget: int = 1_500) -> FlameGraph:
        """Return the interactive flame graph for Jupyter, `height` CSS pixels high.

        Where frames are not supported, as on GitHub, a picture is shown instead. The
        graph has at most the `budget` heaviest functions of the call tree: fewer make a
        smaller notebook.
        """
        from pprofdiff.notebook.flames import FlameGraph

        return FlameGraph(self.drawable, height, budget)


class PlottedLogs:
    """Plots of two GC logs."""

    __slots__ = ()

    plot_heap = plotted("heap", "heap, goal and live heap over time")
    plot_pauses = plotted("pauses", "the distribution of pauses")


class PlottedTraces:
    """Plots of two execution traces."""

    __slots__ = ()

    @property
    @abstractmethod
    def drawable(self) -> TraceDiff:
        """What is drawn."""

    def wait_chains(self, height: int = 340, *, budget: int = 1_500) -> FlameGraph:
        """Return who waited for whom for Jupyter, `height` CSS pixels high.

        Each place waits for what is below it; the last is what was done in the
        meantime. Where frames are not supported, a picture is shown instead.
        """
        from pprofdiff.notebook.flames import FlameGraph

        return FlameGraph(self.drawable, height, budget)

    plot_latency = plotted("latency", "the distribution of scheduling latency")
    plot_mmu = plotted("mmu", "the minimum mutator utilization")
    plot_waits = plotted("waits", "what goroutines waited for in the end")
    plot_wait_chains = plotted("flamegraph", "who waited for whom as one flame graph")
    plot_states = plotted("states", "goroutine time by state and root function")
    plot_heap = plotted("heap", "live heap and goal over time")

    def plot_moment(
        self,
        which: MomentId = "wait",
        ax: Axes | None = None,
        **options: Any,  # noqa: ANN401
    ) -> Axes:
        """Plot Ps and goroutines around the worst moment; see `plots.moment`.

        That is the longest scheduling latency (``wait``), the longest stop-the-world
        (``stop``), or the 10 ms with the lowest mutator utilization (``mutator``).
        """
        drawn: Axes = plots.moment(self, ax, which=which, **options)
        return drawn
