"""The commits between two refs, and which of them each one contains."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pprofdiff.errors import UsageError
from pprofdiff.inputs.sources.git import GitError, Repository
from pprofdiff.model.arrays import Mask
from pprofdiff.model.source import Revision
from pprofdiff.units import printable

MOST_COMMITS = 10_000
"""More would need over 100 MB for which commit contains which."""


def history(
    repository: Repository,
    ends: tuple[str, str],
    warn: Callable[[str], None],
    *,
    first_parent: bool,
) -> tuple[Revision, ...]:
    """Return the good end, and the commits up to the bad one, after their parents.

    Raises UsageError for unknown refs, or if there are no commits between them.
    """
    good, bad = map(repository.commit, ends)
    first, last = map(printable, ends)
    if good == bad:
        raise UsageError(f"bisect: {first} and {last} are the same commit")
    parted = repository.merge_base(good, bad)
    if parted == bad:
        raise UsageError(
            f"bisect: {first} contains {last}: give the older one first, "
            f"pprofdiff bisect {last} {first}"
        )
    if parted != good:
        warn(
            f"{first} is not in the history of {last}: the search begins where they "
            f"diverged, at {parted[:9]}"
        )
    try:
        commits = repository.history((parted, bad), first_parent=first_parent)
    except GitError as error:
        raise UsageError(f"bisect: git: {error}") from None
    if len(commits) > MOST_COMMITS:
        raise UsageError(
            f"bisect: {len(commits) - 1:,} commits: name ends with at most "
            f"{MOST_COMMITS:,} between them, or follow --first-parent"
        )
    return commits


def contained(commits: Sequence[Revision]) -> Mask:
    """Return which commits each commit contains, as `posterior` takes it."""
    number = {commit.id: i for i, commit in enumerate(commits)}
    found = np.zeros((len(commits), len(commits)), np.bool_)
    for i, commit in enumerate(commits[1:], 1):
        found[i, i] = True
        for parent in commit.parents:
            if parent in number:
                found[i] |= found[number[parent]]
    found[:, 0] = False
    return found


def aside(commits: Sequence[Revision]) -> set[int]:
    """Return the commits that do not contain the good end, but are merged after it.

    They cannot be compared with it; what they change shows where they are merged.
    """
    after = {commits[0].id}
    for commit in commits[1:]:
        if not after.isdisjoint(commit.parents):
            after.add(commit.id)
    return {i for i, commit in enumerate(commits) if commit.id not in after}
