"""Load two fleets as sides whose runs are hosts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from pprofdiff.analysis.profiles.compare import place_in_report
from pprofdiff.errors import FormatError, UsageError
from pprofdiff.fleets.engine import Where, reduced
from pprofdiff.fleets.hosts import HostRule, host_rule
from pprofdiff.fleets.partial import NO_GROUP, Key, Part, Task, combine, read_part
from pprofdiff.fleets.sources import Source, paths_of, read_once, source_of
from pprofdiff.inputs.decompression import DEFAULT_MAX_SIZE
from pprofdiff.inputs.model import silent
from pprofdiff.inputs.sides import Loaded
from pprofdiff.model.profiles.merge import merge
from pprofdiff.model.profiles.per_unit import PerUnit
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.model.side import Capture, Fleet, HostGroup, Side
from pprofdiff.units import printable

if TYPE_CHECKING:
    from pprofdiff.fleets.tallies import Tally

MAX_SKIPPED = 0.01
"""The default fraction of objects that may be left out."""

# Objects per task: their sums take about 1 s, and a few hundred kilobytes to send.
_AT_ONCE = 50


# Reasons why an object's bytes are unavailable.
_UNREAD = frozenset(
    ("vanished", "not permitted", "timed out", "throttled", "unreadable", "too large")
)


_Groups = dict[str, dict[tuple[str, str], list[Profile]]]


class FleetOptions(NamedTuple):
    """How to read profiles of many hosts.

    `by` identifies hosts: see `hosts.host_rule`; `group_by` groups in addition to them.
    `scheduler` and `workers` say where to read: see `engine.Where`. `max_skipped` is
    the largest fraction of a side's objects that may be left out. `labels` says whether
    samples keep their labels. `max_size` is the largest decompressed size of an object,
    in bytes. `anonymous` leaves out names of hosts and places. `progress` is called
    with what is being done.
    """

    by: str | None = None
    scheduler: str = ""
    workers: int | None = None
    max_skipped: float = MAX_SKIPPED
    labels: bool = False
    max_size: int = DEFAULT_MAX_SIZE
    anonymous: bool = False
    progress: Callable[[str], None] = silent
    group_by: str = ""

    @property
    def where(self) -> Where:
        """Where to read."""
        return Where(self.scheduler, self.workers, self.progress)


def load_fleets(
    base: Sequence[str], new: Sequence[str], options: FleetOptions
) -> Loaded:
    """Return both sides, with a capture per kind and host, or group of hosts.

    Raises FetchError, UsageError: as `sources.source_of` and `hosts.host_rule` do; or
    no group is found. Raises FormatError: more than `options.max_skipped` of a side's
    objects are not readable profiles, or all are not. Raises ClusterError: as
    `engine.reduced` does.
    """
    options.progress("listing objects")
    read_once((*base, *new))
    sources = source_of(tuple(base), "base"), source_of(tuple(new), "new")
    rule = host_rule(options.by, paths_of(sources))
    tasks = [tasks_of(source, rule, options) for source in sources]
    parts = reduced(tasks, read_part, combine, options.where)
    notes = [
        noted(source, part, word, options)
        for source, part, word in zip(sources, parts, ("base", "new"), strict=True)
    ]
    _must_have_groups(parts, options)
    numbers = _Numbers.of(parts)
    first, second = (
        _side(source, part, word, numbers, options)
        for source, part, word in zip(sources, parts, ("base", "new"), strict=True)
    )
    return Loaded(first, second, tuple(note for note in notes if note))


def _must_have_groups(parts: Sequence[Part], options: FleetOptions) -> None:
    groups = {group for part in parts for group in part.members if group}
    if options.group_by and groups == {NO_GROUP}:
        raise UsageError(
            f"--group-by {printable(options.group_by)}: no path contains it, and no "
            "label of samples has this name"
        )


def tasks_of(source: Source, rule: HostRule, options: FleetOptions) -> list[Task]:
    """Split a side's objects into tasks, each host's objects in one."""
    by = options.group_by
    group = host_rule(by, flag="--group-by") if by else None
    tasks = []
    for objects in source.objects:
        paths = sorted(objects.paths, key=lambda path: (rule.of_path(path) or "", path))
        tasks += [
            Task(
                objects.store,
                tuple(paths[start : start + _AT_ONCE]),
                rule,
                options.labels,
                options.max_size,
                group,
            )
            for start in range(0, len(paths), _AT_ONCE)
        ]
    return tasks


def noted(source: Source, part: Part | Tally, word: str, options: FleetOptions) -> str:
    """Return a line on what was left out, "" for nothing; raises FormatError."""
    left = sum(part.skipped.values())
    if not left:
        return ""
    label = source.label or word
    reasons = ", ".join(
        f"{count:,} {reason}"
        for reason, count in sorted(
            part.skipped.items(), key=lambda item: (-item[1], item[0])
        )
    )
    text = f"{label}: {left:,} of {len(source):,} objects left out: {reasons}"
    reason = max(part.skipped, key=lambda one: (part.skipped[one], one))
    if not options.anonymous:
        text += f" (such as {printable(part.first[reason])})"
    if not part.profiles:
        raise FormatError(f"{text}{_remedy(reason)}")
    if left > options.max_skipped * len(source):
        raise FormatError(
            f"{text}: more than --max-skipped {100 * options.max_skipped:g}%"
        )
    return text


def _remedy(reason: str) -> str:
    """Return a hint for when all objects are left out, given the main reason."""
    if reason in _UNREAD:
        return ""
    flag = {"without a host": "--by", "without a build": "--over"}.get(reason)
    if flag:
        return (
            f"; {flag} is a label of samples, a part KEY=… of paths, or a pattern for "
            "paths"
        )
    if reason == "without a time":
        return "; profiles do not say when they were taken"
    return "; fleets consist of pprof profiles"


class _Numbers(NamedTuple):
    """Numbers, from 0, of the units and hosts of both sides, by name."""

    units: Mapping[str, int]
    hosts: Mapping[str, int]

    @classmethod
    def of(cls, parts: Sequence[Part]) -> _Numbers:
        sums = [sums for part in parts for sums in part.profiles.values()]
        names = (
            {unit for one in sums for unit in one.spans},
            {host for part in parts for host, _ in part.hosts},
        )
        return cls(
            *(dict(zip(sorted(n, key=_natural), count(), strict=False)) for n in names)
        )


def _side(
    source: Source, part: Part, word: str, numbers: _Numbers, options: FleetOptions
) -> Side:
    run_of = numbers.units
    by_group: _Groups = defaultdict(lambda: defaultdict(list))
    for key, sums in sorted(part.profiles.items(), key=_order):
        for unit, profile in sums.profiles().items():
            by_group[key.group][unit, key.kind].append(profile)
    captures = {
        group: tuple(
            Capture(
                f"host {run_of[unit] + 1}" if options.anonymous else printable(unit),
                "profile",
                several[0] if len(several) == 1 else merge(several),
                run_of[unit],
                run_known=True,
            )
            for (unit, _), several in sorted(
                by_kind.items(),
                key=lambda item: (run_of[item[0][0]], place_in_report(item[0][1])),
            )
        )
        for group, by_kind in by_group.items()
    }
    place = "objects" if options.anonymous else source.place
    shown = {
        name: f"host {numbers.hosts[name] + 1}" if options.anonymous else name
        for name in {host for host, _ in part.hosts}
    }
    fleet = Fleet(
        place,
        {(shown[host], kind): sums for (host, kind), sums in part.hosts.items()},
        dict(part.skipped),
        options.group_by,
        {
            group: HostGroup(len(part.members[group]), captures[group])
            for group in sorted(captures)
            if group
        },
    )
    return Side(source.label or word, captures[""], fleet)


def _order(item: tuple[Key, PerUnit]) -> tuple[str, str, str]:
    key = item[0]
    return key.group, key.kind, repr(key.sample_types)


def _natural(name: str) -> tuple[str, int, str]:
    """Return a sort key by the trailing number: host2 before host10."""
    head = name.rstrip("0123456789")
    digits = name[len(head) :]
    return head, int(digits or 0), name
