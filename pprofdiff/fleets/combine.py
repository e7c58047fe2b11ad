"""Parts of one side added up: a tree of these is what many profiles come to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from pprofdiff.fleets.hosts import GROUPS, group_of
from pprofdiff.fleets.partial import Key, LeftOut, Part, few_groups
from pprofdiff.model.profiles.apart import Apart, added
from pprofdiff.model.side import HostSums

__all__ = ["combine", "tree"]

# Parts that are added up at once: fewer levels, and memory for no more than so many.
_BRANCHES = 8

T = TypeVar("T")
Leaf = TypeVar("Leaf")


def combine(parts: Sequence[Part]) -> Part:
    """Return the sum of parts, in whatever way they were cut: integers are exact.

    Of up to `GROUPS` hosts each stays apart; of more, profiles are those of groups.
    """
    hosts: dict[tuple[str, str], HostSums] = {}
    left = LeftOut()
    for part in parts:
        left.add(part.skipped, part.first)
        for own, sums in part.hosts.items():
            hosts[own] = hosts[own].plus(sums) if own in hosts else sums
    members: dict[str, frozenset[str]] = {}
    for part in parts:
        for group, names in part.members.items():
            members[group] = members.get(group, frozenset()) | names
    few_groups(members)
    grouped = any(part.grouped for part in parts)
    grouped = grouped or len({host for host, _ in hosts}) > GROUPS
    # One after another: all entries of eight parts at once take 100 MB.
    profiles: dict[Key, Apart] = {}
    for part in parts:
        rename = group_of if grouped and not part.grouped else None
        for key, apart in part.profiles.items():
            renamed = apart if rename is None else added([apart], rename)
            known = [profiles[key]] if key in profiles else []
            profiles[key] = added([*known, renamed])
    return Part(profiles, hosts, left.skipped, left.first, grouped, members)


def tree(
    tasks: Sequence[Leaf],
    read: Callable[[Leaf], T],
    join: Callable[[list[T]], T],
) -> T:
    """Return what all tasks (at least one) come to: read, then joined, eight by eight.

    Tasks are read in order, each branch is joined before the next is begun.
    """
    if len(tasks) == 1:
        return join([read(tasks[0])])
    size = 1
    while size * _BRANCHES < len(tasks):
        size *= _BRANCHES
    if size == 1:
        return join([read(task) for task in tasks])
    return join(
        [
            tree(tasks[start : start + size], read, join)
            for start in range(0, len(tasks), size)
        ]
    )
