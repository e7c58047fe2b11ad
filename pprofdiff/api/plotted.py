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
    from pprofdiff.analysis.traces.moments import MomentId
    from pprofdiff.notebook.flames import FlameGraph

__all__ = ["PlottedLogs", "PlottedProfiles", "PlottedTraces"]


def _drawn(
    plot: Callable[..., Axes], data: object, ax: Axes | None, options: dict[str, Any]
) -> Axes:
    return plot(data, ax, **options)


class PlottedProfiles:
    """Plots of two profiles."""

    __slots__ = ()

    @property
    @abstractmethod
    def drawable(self) -> ProfileDiff:
        """What is drawn."""

    def plot_top(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        """Plot the functions that changed most; see `plots.movers`."""
        return _drawn(plots.movers, self, ax, options)

    def plot_waterfall(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        """Plot how base's total becomes new's; see `plots.waterfall`."""
        return _drawn(plots.waterfall, self, ax, options)

    def plot_scatter(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        """Plot each function in new against base; see `plots.scatter`."""
        return _drawn(plots.scatter, self, ax, options)

    def plot_flamegraph(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        """Plot both sides' stacks as one flame graph; see `plots.flamegraph`."""
        return _drawn(plots.flamegraph, self, ax, options)

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

    def plot_heap(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        """Plot heap, goal and live heap over time; see `plots.heap`."""
        return _drawn(plots.heap, self, ax, options)

    def plot_pauses(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        """Plot the distribution of pauses; see `plots.pauses`."""
        return _drawn(plots.pauses, self, ax, options)


class PlottedTraces:
    """Plots of two execution traces."""

    __slots__ = ()

    def plot_latency(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        """Plot the distribution of scheduling latency; see `plots.latency`."""
        return _drawn(plots.latency, self, ax, options)

    def plot_mmu(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        """Plot the minimum mutator utilization; see `plots.mmu`."""
        return _drawn(plots.mmu, self, ax, options)

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
        return _drawn(plots.moment, self, ax, {"which": which, **options})

    def plot_states(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        """Plot goroutine time by state and root function; see `plots.states`."""
        return _drawn(plots.states, self, ax, options)

    def plot_heap(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        """Plot live heap and goal over time; see `plots.heap`."""
        return _drawn(plots.heap, self, ax, options)
