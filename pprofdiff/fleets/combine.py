"""Add up the parts of one side, pairwise in a tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from pprofdiff.fleets.hosts import GROUPS, group_of
from pprofdiff.fleets.partial import Key, LeftOut, Part, few_groups
from pprofdiff.model.profiles.per_unit import PerUnit, added
from pprofdiff.model.side import HostSums

T = TypeVar("T")
Leaf = TypeVar("Leaf")


def combine(parts: Sequence[Part]) -> Part:
    """Return the sum of parts, however they were split: integers are exact.

    Up to `GROUPS` hosts stay separate; beyond that, profiles are summed per group.
    """
    hosts: dict[tuple[str, str], HostSums] = {}
    left = LeftOut()
    for part in parts:
        for reason, count in part.skipped.items():
            left.add(reason, part.first[reason], count)
        for own, sums in part.hosts.items():
            hosts[own] = hosts[own].plus(sums) if own in hosts else sums
    members: dict[str, frozenset[str]] = {}
    for part in parts:
        for group, names in part.members.items():
            members[group] = members.get(group, frozenset()) | names
    few_groups(members)
    grouped = any(part.grouped for part in parts)
    grouped = grouped or len({host for host, _ in hosts}) > GROUPS
    profiles: dict[Key, PerUnit] = {}
    for part in parts:
        rename = group_of if grouped and not part.grouped else None
        for key, one in part.profiles.items():
            renamed = one if rename is None else added([one], rename)
            known = [profiles[key]] if key in profiles else []
            profiles[key] = added([*known, renamed])
    return Part(profiles, hosts, left.skipped, left.first, grouped, members)


def tree(
    tasks: Sequence[Leaf],
    read: Callable[[Leaf], T],
    join: Callable[[list[T]], T],
) -> T:
    """Read all tasks (at least one) and join the results in pairs.

    Each branch is joined before the next one starts: at most one sum of each size waits
    in memory for its partner.
    """
    if len(tasks) <= 2:
        return join([read(task) for task in tasks])
    half = 1 << ((len(tasks) - 1).bit_length() - 1)
    return join([tree(tasks[:half], read, join), tree(tasks[half:], read, join)])
