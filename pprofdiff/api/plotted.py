"""The plots of `pprofdiff.plots` as methods of what they draw.

Each takes ``ax=None``, which is ``plt.gca()``, and what the plot takes beside it, and
returns the Axes.
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
    """What can be drawn of two profiles."""

    __slots__ = ()

    @property
    @abstractmethod
    def drawable(self) -> ProfileDiff:
        """What is drawn."""

    def plot_top(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        """Draw the functions that moved most; see `plots.movers`."""
        return _drawn(plots.movers, self, ax, options)

    def plot_waterfall(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        """Draw how base's total becomes new's; see `plots.waterfall`."""
        return _drawn(plots.waterfall, self, ax, options)

    def plot_scatter(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        """Draw each function in new against base; see `plots.scatter`."""
        return _drawn(plots.scatter, self, ax, options)

    def plot_flamegraph(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        """Draw both sides' stacks as one graph; see `plots.flamegraph`."""
        return _drawn(plots.flamegraph, self, ax, options)

    def flamegraph(self, height: int = 560, *, budget: int = 1_500) -> FlameGraph:
        """Return the interactive flame graph, `height` CSS pixels high, for Jupyter.

        Where frames are not shown, as on GitHub, its picture is shown instead. Of the
        call tree it has the `budget` heaviest functions at most: fewer make a smaller
        notebook.
        """
        from pprofdiff.notebook.flames import FlameGraph

        return FlameGraph(self.drawable, height, budget)


class PlottedLogs:
    """What can be drawn of two GC logs."""

    __slots__ = ()

    def plot_heap(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        """Draw heap, goal and live over time; see `plots.heap`."""
        return _drawn(plots.heap, self, ax, options)

    def plot_pauses(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        """Draw which share of pauses is longer; see `plots.pauses`."""
        return _drawn(plots.pauses, self, ax, options)


class PlottedTraces:
    """What can be drawn of two execution traces."""

    __slots__ = ()

    def plot_latency(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        """Draw which share of waits for a processor is longer; see `plots.latency`."""
        return _drawn(plots.latency, self, ax, options)

    def plot_mmu(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        """Draw the least share left to the program; see `plots.mmu`."""
        return _drawn(plots.mmu, self, ax, options)

    def plot_moment(
        self,
        which: MomentId = "wait",
        ax: Axes | None = None,
        **options: Any,  # noqa: ANN401
    ) -> Axes:
        """Draw processors and goroutines around the worst moment; see `plots.moment`.

        That is the longest ``wait`` for a processor, the longest ``stop`` of the world,
        or the 10 ms that left least to the program, ``mutator``.
        """
        return _drawn(plots.moment, self, ax, {"which": which, **options})

    def plot_states(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        """Draw time of goroutines by state and root function; see `plots.states`."""
        return _drawn(plots.states, self, ax, options)

    def plot_heap(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401
        """Draw live heap and goal over time; see `plots.heap`."""
        return _drawn(plots.heap, self, ax, options)
