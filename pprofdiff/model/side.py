"""One side of a comparison: its inputs, decoded, with the run that each is of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar, overload

if TYPE_CHECKING:
    from pprofdiff.kinds import KindId
    from pprofdiff.model.benchmarks import Benchmarks, LoadSummary
    from pprofdiff.model.gclogs import GCLog
    from pprofdiff.model.profiles.profile import Profile
    from pprofdiff.model.traces.trace import Trace

__all__ = ["Capture", "Fleet", "HostGroup", "HostSums", "Side"]

Content_co = TypeVar("Content_co", covariant=True)


@dataclass(frozen=True, slots=True, eq=False)
class Capture(Generic[Content_co]):
    """One input of one kind, decoded.

    Attributes
    ----------
    path
        The name that the user knows the input by.
    kind
        An id of `pprofdiff.kinds.KINDS`, which says what `content` is.
    content
        A `Profile`, `GCLog`, `Trace`, `Benchmarks` or `LoadSummary` of
        `pprofdiff.model`.
    run
        The number of the run that it is of, from 0. A run is what was captured
        together; two captures of one side that measure the same are of two runs.
    told
        Whether the inputs say of which run it is: folders of one side's runs do.
    saved_to
        Path of the copy of a fetched input, None for a local one.
    unit
        The unit of work that it covers, such as a benchmark that ran in a process of
        its own; "" where it covers the whole run.

    """

    path: str
    kind: KindId
    content: Content_co
    run: int = 0
    told: bool = False
    saved_to: str | None = None
    unit: str = ""


class HostSums(NamedTuple):
    """What the profiles of one kind of one host add up to.

    `duration_ns` is the sum of their durations, 0 where they tell none; `total` that of
    their values, in the default sample type.
    """

    profiles: int
    duration_ns: int
    total: int

    def plus(self, other: HostSums) -> HostSums:
        """Return the sums of both."""
        return HostSums(*(a + b for a, b in zip(self, other, strict=True)))


@dataclass(frozen=True, slots=True, eq=False)
class Fleet:
    """What the captures of a side are sums of: profiles of many hosts.

    A capture is one host's, or of a fixed group of hosts, and its `Capture.run` numbers
    that.

    Attributes
    ----------
    place
        Where the profiles are, as people know it.
    hosts
        What each (host, kind of profile) adds up to.
    skipped
        How many objects were left out, by reason.
    grouped_by
        What the profiles are grouped by beside their hosts, "" for nothing.
    groups
        The same profiles by group: region, version, endpoint.

    """

    place: str
    hosts: Mapping[tuple[str, str], HostSums]
    skipped: Mapping[str, int]
    grouped_by: str = ""
    groups: Mapping[str, HostGroup] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The hosts, by name."""
        return sorted({host for host, _ in self.hosts})

    def of(self, kind: str) -> list[HostSums]:
        """Return what each host adds up to in one kind of profile."""
        return [sums for (_, own), sums in self.hosts.items() if own == kind]


class HostGroup(NamedTuple):
    """Some of a fleet's profiles: of so many hosts, with captures as `Side` has them.

    One profile may be of several groups, each of which has some of its samples.
    """

    hosts: int
    captures: tuple[Capture[Profile], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """What was captured of one build, under the word for it in tables.

    `fleet` is None unless the captures are sums of many hosts' profiles.
    """

    label: str
    captures: tuple[Capture[Any], ...] = ()
    fleet: Fleet | None = None

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
