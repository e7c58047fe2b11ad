"""Resolve the two states of a repository to compare, and write out their files."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from typing import Literal, NamedTuple

from pprofdiff.errors import FetchError, MeasureError, UsageError
from pprofdiff.inputs.sources.git import GitError, Repository
from pprofdiff.units import many, printable

SideName = Literal["base", "new"]
SIDES: tuple[SideName, SideName] = ("base", "new")
Started = tuple[tuple[SideName, float], ...]
"""When each side started in a round, in Unix seconds, in run order."""

_ASKING = "measure"


class Checkout(NamedTuple):
    """One side: the ref as typed, and its commit, "" for the work tree as it is.

    `changed` is the number of files in the work tree that differ from its last commit.
    With `alone`, messages name the commit and no side.
    """

    side: SideName
    ref: str
    commit: str
    changed: int = 0
    alone: bool = False

    @property
    def label(self) -> str:
        """The side as messages name it."""
        if not self.commit:
            return f"{self.side} (the working tree)"
        short = self.commit[:9]
        if self.alone:
            return short
        ref = printable(self.ref)
        if self.commit.startswith(self.ref):
            return f"{self.side} ({short})"
        return f"{self.side} ({ref}, {short})"


def order(number: int) -> tuple[SideName, SideName]:
    """Return which side runs first in a turn, counted from 0.

    The order is the Thue-Morse sequence, so a drift that is linear or quadratic in time
    affects both sides alike (golang/go#63233).
    """
    return ("new", "base") if number.bit_count() % 2 else ("base", "new")


def checkouts(
    repository: Repository, base: str, new: str
) -> tuple[tuple[Checkout, Checkout], tuple[str, ...]]:
    """Return both sides and warnings about them.

    If `new` is "", it is the work tree; if `base` is "", it is the merge base with the
    default branch. Raises UsageError for an unknown ref, or if nothing differs.
    """
    repository.top()
    changed = repository.changed()
    warnings = []
    if new:
        last = Checkout("new", new, repository.commit(new))
        if changed:
            warnings.append(
                f"{many(changed, 'file')} of the working tree that are not committed "
                f"are not measured: {printable(new)} is a commit"
            )
    else:
        last = Checkout("new", "", "", changed)
    head = last.commit or _head(repository)
    if base:
        first = Checkout("base", base, repository.commit(base))
    else:
        branch = repository.default_branch()
        if branch is None:
            raise UsageError(
                f"{_ASKING}: there is no branch main or master, nor origin's default "
                "branch: say which commit to compare with, pprofdiff measure BASE"
            )
        parted = repository.merge_base(repository.commit(branch), head)
        short = branch.removeprefix("refs/heads/").removeprefix("refs/remotes/")
        first = Checkout("base", short, parted)
        if parted == head and not (last.changed and not last.commit):
            raise UsageError(
                f"{_ASKING}: there is nothing new since {short} ({parted[:9]}): say "
                "which commit to compare with, such as pprofdiff measure HEAD~1"
            )
    return (first, last), tuple(warnings)


def _head(repository: Repository) -> str:
    try:
        return repository.commit("HEAD")
    except UsageError:
        raise UsageError(f"{_ASKING}: the repository has no commit yet") from None


def checked_out(
    repository: Repository, side: Checkout, folder: str, warn: Callable[[str], None]
) -> str:
    """Write a side's files to a new folder; return what matches the working directory.

    For the work tree, these are all files that git does not ignore. Submodules are read
    from where they are checked out. Raises MeasureError, UsageError or FetchError.
    """
    try:
        if side.commit:
            _export(repository, side, folder, warn)
        else:
            _copied(repository, side, folder, warn)
    except GitError as error:
        raise MeasureError(f"{side.label}: git: {error}") from None
    except OSError as error:
        # shutil.Error has no strerror.
        reason = error.strerror or str(error)
        raise FetchError(f"{side.label}: cannot be written out: {reason}") from None
    prefix = repository.prefix()
    ours = os.path.join(folder, prefix) if prefix else folder
    if not os.path.isdir(ours):
        raise UsageError(
            f"{_ASKING}: {side.label} has no folder {printable(prefix)}: go to one "
            "that both have"
        )
    return ours


def _export(
    repository: Repository, side: Checkout, folder: str, warn: Callable[[str], None]
) -> None:
    repository.export(side.commit, folder)
    for path, commit in repository.submodules(side.commit):
        own = _submodule(repository, path)
        target = os.path.join(folder, path)
        if own is not None:
            try:
                own.commit(commit)
            except UsageError:
                own = None
        if own is None:
            warn(_empty(side, path))
            os.makedirs(target, exist_ok=True)
            continue
        if os.path.isdir(target):
            os.rmdir(target)
        _export(own, side._replace(ref=commit, commit=commit), target, warn)


def _copied(
    repository: Repository, side: Checkout, folder: str, warn: Callable[[str], None]
) -> None:
    top = repository.top()
    os.makedirs(folder, exist_ok=True)
    links: dict[str, bool] = {"": False}
    for path in repository.files():
        # Git lists the former content of a folder that is now a link: skip it.
        if _through_link(top, os.path.dirname(path.rstrip("/")), links):
            continue
        source, target = os.path.join(top, path), os.path.join(folder, path)
        try:
            mode = os.lstat(source).st_mode
        except FileNotFoundError:  # deleted but not committed
            continue
        if stat.S_ISDIR(mode):
            own = _submodule(repository, path.rstrip("/"))
            if own is None:
                warn(_empty(side, path))
                os.makedirs(target, exist_ok=True)
            else:
                _copied(own, side, target, warn)
        elif stat.S_ISREG(mode) or stat.S_ISLNK(mode):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)


def _through_link(top: str, folder: str, known: dict[str, bool]) -> bool:
    if folder not in known:
        known[folder] = _through_link(top, os.path.dirname(folder), known) or (
            os.path.islink(os.path.join(top, folder))
        )
    return known[folder]


def _submodule(repository: Repository, path: str) -> Repository | None:
    place = os.path.join(repository.top(), path)
    # Without its own .git, git would use the enclosing repository.
    if not os.path.lexists(os.path.join(place, ".git")):
        return None
    try:
        return Repository(place, _ASKING)
    except UsageError:
        return None


def _empty(side: Checkout, path: str) -> str:
    return (
        f"{side.label}: the submodule {printable(path)} is left empty, as that commit "
        "of it is not here; git submodule update --init --recursive brings it"
    )
