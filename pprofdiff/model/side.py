"""One side of a comparison: its decoded inputs and their runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar, overload

from msgspec import Struct, field

if TYPE_CHECKING:
    from pprofdiff.kinds import KindId
    from pprofdiff.model.benchmarks import Benchmarks, LoadSummary
    from pprofdiff.model.gclogs import GCLog
    from pprofdiff.model.profiles.profile import Profile
    from pprofdiff.model.traces.trace import Trace

Content_co = TypeVar("Content_co", covariant=True)


class Capture(Struct, Generic[Content_co], frozen=True, eq=False):
    """One decoded input of one kind.

    `path` names the input for display. `kind` is an id of `pprofdiff.kinds.KINDS`,
    which determines the type of `content`. Captures taken together form a `run`, by
    number from 0; `run_known` if inputs determine it, as a folder per run does.
    `saved_to` is the path of the copy of a fetched input. `unit` is the unit of work,
    such as a benchmark in its own process, "" for the whole run.

    `of_process` is how many profiles of one process there were: `content` is the sum of
    their windows, or the latest of profiles that count since the process began. With
    `deltas`, each counted since the one before: counts are added up, and what is in use
    is the latest's.
    """

    path: str
    kind: KindId
    content: Content_co
    run: int = 0
    run_known: bool = False
    saved_to: str | None = None
    unit: str = ""
    of_process: int = 1
    deltas: bool = False


class HostSums(NamedTuple):
    """The totals of one host's profiles of one kind.

    `duration_ns` is 0 if not recorded; `total` is in the default sample type.
    """

    profiles: int
    duration_ns: int
    total: int

    def plus(self, other: HostSums) -> HostSums:
        """Return the sums of both."""
        return HostSums(*(a + b for a, b in zip(self, other, strict=True)))


class Fleet(Struct, frozen=True, eq=False):
    """A fleet of hosts whose profiles are summed in a side's captures.

    A capture belongs to one host, or a fixed group of hosts, numbered by `Capture.run`.
    `place` says where the profiles are, `hosts` the totals of each (host, kind).
    `skipped` counts objects by why they were left out. `grouped_by` is what `groups` of
    the same profiles are: region, version, endpoint.
    """

    place: str
    hosts: Mapping[tuple[str, str], HostSums]
    skipped: Mapping[str, int]
    grouped_by: str = ""
    groups: Mapping[str, HostGroup] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The hosts, sorted by name."""
        return sorted({host for host, _ in self.hosts})

    def of(self, kind: str) -> list[HostSums]:
        """Return the totals of each host for one kind of profile."""
        return [sums for (_, own), sums in self.hosts.items() if own == kind]


class HostGroup(NamedTuple):
    """A group of a fleet's profiles: the number of hosts, and captures as in `Side`.

    A profile may belong to several groups, each with some of its samples.
    """

    hosts: int
    captures: tuple[Capture[Profile], ...]


class Side(Struct, frozen=True, eq=False):
    """The captures of one build, with its label.

    `fleet` is None unless the captures sum up profiles of many hosts. `settings` are
    those of the build, such as ``-race``, if a profiled program is at hand.
    """

    label: str
    captures: tuple[Capture[Any], ...] = ()
    fleet: Fleet | None = None
    settings: Mapping[str, str] = field(default_factory=dict)

    @overload
    def of(self, kind: Literal["profile"]) -> tuple[Capture[Profile], ...]: ...
    @overload
    def of(self, kind: Literal["gctrace"]) -> tuple[Capture[GCLog], ...]: ...
    @overload
    def of(self, kind: Literal["trace"]) -> tuple[Capture[Trace], ...]: ...
    @overload
    def of(self, kind: Literal["benchmark"]) -> tuple[Capture[Benchmarks], ...]: ...
    @overload
    def of(self, kind: Literal["load"]) -> tuple[Capture[LoadSummary], ...]: ...
    @overload
    def of(self, kind: KindId) -> tuple[Capture[Any], ...]: ...

    def of(self, kind: KindId) -> tuple[Capture[Any], ...]:
        """Return the captures of a kind, in the order the inputs were given."""
        return tuple(capture for capture in self.captures if capture.kind == kind)
