"""Read some profiles of one side and sum them per host: the work of one task.

Memory grows with distinct stacks, not with profiles: a task holds the frames that are
not summed yet (`_MOST_FRAMES`), each distinct stack once, and 24 bytes per stack and
host (two sample types). The client holds 32 bytes per distinct stack, side and host or
group of hosts (at most 64 per side).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from errno import EBUSY
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from pprofdiff.analysis.profiles.kinds import kind_name
from pprofdiff.errors import DamagedError, FormatError, UsageError
from pprofdiff.fleets.hosts import GROUPS, HostRule, group_of
from pprofdiff.inputs.decompression import NoZstdError, decompress
from pprofdiff.inputs.recognition import Foreign, binary_kind
from pprofdiff.loaders.profiles.encodings import decode
from pprofdiff.model.csr import distinct
from pprofdiff.model.profiles.per_unit import PerUnit, added, per_unit
from pprofdiff.model.profiles.profile import Labels, Profile, ValueType, largest_sum
from pprofdiff.model.side import HostSums

NO_GROUP = "(none)"
"""The group of samples whose group is unknown."""

MOST_GROUPS = 33
"""Maximum number of groups, including one for all samples: each takes as much memory as
a side."""

# Objects requested at a time, which pays a store's latency once.
_AT_ONCE = 10
_PART = 1 << 20
# Frames of profiles waiting to be summed, about 50 bytes each: some 8 profiles of 100
# KB.
_MOST_FRAMES = 1 << 19
_HEAD = 1 << 16
_TOO_LARGE = float(1 << 63)  # overflows int64


class Key(NamedTuple):
    """What profiles must share to be summed, whatever their host; `group` "" is all."""

    group: str
    kind: str
    sample_types: tuple[ValueType, ...]
    period_type: ValueType | None


@dataclass(frozen=True, slots=True)
class Task:
    """Objects of one store to read, and how; `labels`: whether samples keep theirs."""

    store: Any
    paths: tuple[str, ...]
    rule: HostRule
    labels: bool
    max_size: int
    group: HostRule | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Summed profiles, and counts of what was read.

    `profiles` are exact in int64; their units are hosts, or groups of hosts if
    `grouped`, whose hosts are `members`. `hosts` are the sums of each (host, kind).
    `skipped` counts objects left out, by reason; `first` is an example of each.
    """

    profiles: Mapping[Key, PerUnit]
    hosts: Mapping[tuple[str, str], HostSums] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    first: Mapping[str, str] = field(default_factory=dict)
    grouped: bool = False
    members: Mapping[str, frozenset[str]] = field(default_factory=dict)


class _Left(Exception):  # noqa: N818 - leaving an object out is not an error
    """An object is left out; the text is the reason, as counted."""


class LeftOut:
    """Counts the objects that are left out, by reason, with the first one of each."""

    def __init__(self) -> None:
        self.skipped: Counter[str] = Counter()
        self.first: dict[str, str] = {}

    def add(self, reason: str, path: str, count: int = 1) -> None:
        """Count objects, of which `path` is one."""
        self.skipped[reason] += count
        self.first.setdefault(reason, path)

    def add_all(self, skipped: Mapping[str, int], first: Mapping[str, str]) -> None:
        """Count what others left out."""
        for reason, count in skipped.items():
            self.add(reason, first[reason], count)


def profiles_of(task: Task, left: LeftOut) -> Iterator[tuple[str, Profile]]:
    """Yield (path, profile) of a task's objects; count others in `left`."""
    for path, data in _bytes_of(task):
        try:
            profile = _profile(data, path, task.max_size)
        except _Left as reason:
            left.add(str(reason), path)
            continue
        yield path, profile


class _Adding:
    """Sums profiles as they arrive, so that only a few are in memory."""

    def __init__(self) -> None:
        self._waiting: dict[Key, list[tuple[str, Profile]]] = {}
        self._frames = 0
        self._sums: dict[Key, list[PerUnit]] = {}

    def add(self, key: Key, host: str, profile: Profile) -> None:
        self._waiting.setdefault(key, []).append((host, profile))
        self._frames += len(profile.stack_locations)
        if self._frames > _MOST_FRAMES:
            self._add_up()

    def sums(self) -> dict[Key, PerUnit]:
        self._add_up()
        return {key: added(several) for key, several in self._sums.items()}

    def _add_up(self) -> None:
        for key, several in self._waiting.items():
            hosts, profiles = zip(*several, strict=True)
            self._sums.setdefault(key, []).append(per_unit(hosts, profiles))
        self._waiting, self._frames = {}, 0


def read_part(task: Task) -> Part:
    """Return the sums of a task's objects per host; unreadable ones are counted."""
    adding = _Adding()
    hosts: dict[tuple[str, str], HostSums] = {}
    left = LeftOut()
    members: dict[str, set[str]] = {}
    for path, profile in profiles_of(task, left):
        shares = shares_by(profile, path, task.rule)
        if shares is None:
            left.add("without a host", path)
            continue
        kind = kind_name(profile)
        for host, share in shares:
            sums = sums_of(share)
            before = hosts.get((host, kind))
            hosts[host, kind] = sums if before is None else before.plus(sums)
            for group, samples in _by_group(share, path, task.group):
                own = stripped(samples, labels=task.labels)
                key = Key(group, kind, own.sample_types, own.period_type)
                adding.add(key, host, own)
                members.setdefault(group, set()).add(host)
                few_groups(members)
    return Part(
        adding.sums(),
        hosts,
        left.skipped,
        left.first,
        members={group: frozenset(names) for group, names in members.items()},
    )


def combine(parts: Sequence[Part]) -> Part:
    """Return the sum of parts, however they were split: integers are exact.

    Up to `GROUPS` hosts stay separate; beyond that, profiles are summed per group.
    """
    hosts: dict[tuple[str, str], HostSums] = {}
    left = LeftOut()
    for part in parts:
        left.add_all(part.skipped, part.first)
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


def few_groups(groups: Sized) -> None:
    """Raise UsageError for more groups than are worth comparing."""
    if len(groups) > MOST_GROUPS:
        raise UsageError(
            f"--group-by makes more than {MOST_GROUPS - 1} groups: name what has fewer "
            "values, such as a region or a version"
        )


def stripped(profile: Profile, *, labels: bool) -> Profile:
    """Return a profile without parts that grow without bound as profiles are summed."""
    kept = profile.labels if labels else Labels.none()
    return replace(profile, labels=kept, comments=(), doc_url="")


def _by_group(
    profile: Profile, path: str, rule: HostRule | None
) -> Iterator[tuple[str, Profile]]:
    """Yield ("", all samples), and (group, its samples) if there is a rule."""
    yield "", profile
    if rule is None:
        return
    group = rule.of_path(path)
    if group:
        yield group, profile
        return
    for text, share in _by_label(profile, rule.keys):
        yield text or NO_GROUP, share


def sums_of(profile: Profile) -> HostSums:
    """Return one profile's contribution to its host's sums."""
    column = profile.sample_index()
    total = int(profile.values[:, column].sum())
    return HostSums(1, profile.duration_ns or 0, total)


def _bytes_of(task: Task) -> Iterator[tuple[str, bytes | Exception]]:
    """Yield (path, bytes), or the error that reading an object raised."""
    at_once = _AT_ONCE if task.store.async_impl else 1
    for start in range(0, len(task.paths), at_once):
        paths = list(task.paths[start : start + at_once])
        try:
            blocks = _blocks(task, paths)
        except Exception as error:  # noqa: BLE001 - each store has its own errors
            blocks = [error] * len(paths)
        yield from zip(paths, blocks, strict=True)


def _blocks(task: Task, paths: list[str]) -> list[bytes | Exception]:
    """Return the first bytes (at most one over the limit) of objects, or errors."""
    most = task.max_size + 1
    if "http" in task.store.protocol:
        # HTTP servers need not support ranges.
        from fsspec.asyn import sync

        streamed: list[bytes | Exception] = sync(
            task.store.loop, _streamed, task.store, paths, most
        )
        return streamed
    size = len(paths)
    blocks: list[bytes | Exception] = task.store.cat_ranges(
        paths, [0] * size, [most] * size, on_error="return"
    )
    return [
        b"" if isinstance(block, Exception) and _is_empty(task.store, path) else block
        for path, block in zip(paths, blocks, strict=True)
    ]


def _is_empty(store: Any, path: str) -> bool:  # noqa: ANN401 - an fsspec store
    """Return whether an object is empty: stores refuse any range of it."""
    try:
        return bool(store.size(path) == 0)
    except Exception:  # noqa: BLE001 - counted by the error of reading it
        return False


async def _streamed(
    store: Any,  # noqa: ANN401 - likewise
    paths: list[str],
    most: int,
) -> list[bytes | Exception]:
    """Return the first `most` bytes of each object, or the error."""

    async def first(path: str) -> bytes | Exception:
        try:
            # Given any size, it does not request one.
            file = await store.open_async(path, size=0, **store.kwargs)
            try:
                data = bytearray()
                while len(data) < most and (
                    part := await file.read(min(_PART, most - len(data)))
                ):
                    data += part
            finally:
                await file.close()
            return bytes(data)
        except Exception as error:  # noqa: BLE001 - each store has its own errors
            return error

    return await asyncio.gather(*map(first, paths))


def _profile(data: bytes | Exception, path: str, max_size: int) -> Profile:
    """Return the profile in an object; raises `_Left`."""
    if isinstance(data, Exception):
        raise _Left(_unread(data))
    if not data:
        raise _Left("empty")
    try:
        plain = decompress(data, path, max_size)
    except DamagedError:
        raise _Left("damaged") from None
    except NoZstdError:
        raise _Left("zstd, without backports.zstd") from None
    except FormatError:
        raise _Left("too large") from None
    if not plain:
        raise _Left("empty")
    try:
        profile = decode(plain, path)
    except DamagedError:
        raise _Left(_foreign(plain) or "damaged") from None
    if not profile.sample_types:
        raise _Left(_foreign(plain) or "without sample types")
    if largest_sum(profile) >= _TOO_LARGE:
        raise _Left("damaged")
    return profile


def _unread(error: Exception) -> str:
    """Return why an object cannot be read: the library's words may hold signed URLs."""
    if isinstance(error, FileNotFoundError):
        return "vanished"
    if isinstance(error, PermissionError):
        return "not permitted"
    if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
        return "timed out"
    # s3fs raises this for a 503 after all attempts.
    if isinstance(error, OSError) and error.errno == EBUSY:
        return "throttled"
    return "unreadable"


def _foreign(plain: bytes) -> str:
    """Return what an object is if not a profile, "" if it looks like one."""
    kind = binary_kind(plain[:_HEAD], whole=len(plain) <= _HEAD)
    if kind == "profile":
        return ""
    if kind == "trace":
        return "not a profile but a trace"
    return "not a profile" if kind is None or isinstance(kind, Foreign) else str(kind)


def shares_by(
    profile: Profile, path: str, rule: HostRule
) -> list[tuple[str, Profile]] | None:
    """Return (name, its samples) for each name that a rule finds in one profile.

    The path names all samples, else labels do; None if some samples have neither. Each
    share keeps the profile's metadata.
    """
    name = rule.of_path(path)
    if name:
        return [(name, profile)]
    shares = _by_label(profile, rule.keys)
    return shares if all(text for text, _ in shares) else None


def _by_label(profile: Profile, keys: tuple[str, ...]) -> list[tuple[str, Profile]]:
    """Return (text, samples) of the first key found; the text of others is ""."""
    labels = profile.labels
    texts = np.zeros(len(profile), np.int32)
    for key in keys:
        if key not in profile.strings:
            continue
        of_key = (labels.key == profile.strings.index(key)) & (labels.text != 0)
        if of_key.any():
            texts[labels.sample[of_key]] = labels.text[of_key]
            break
    found = distinct(texts).tolist()
    if len(found) < 2:
        text = found[0] if found else 0
        return [(profile.strings[text], profile)]
    return [
        (profile.strings[text], profile.take(np.flatnonzero(texts == text)))
        for text in found
    ]
