"""Sums of samples by label: one row per key and value, for both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from pprofdiff.analysis.judge.judgement import Judgement, Runs
from pprofdiff.analysis.ledger.views import merged, sums_by_run
from pprofdiff.analysis.policy import MOST
from pprofdiff.analysis.profiles.diff import ProfileDiff
from pprofdiff.analysis.profiles.tables import STATUSES
from pprofdiff.errors import UsageError
from pprofdiff.model.arrays import Column
from pprofdiff.model.csr import distinct, unique_tuples
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.units import printable

if TYPE_CHECKING:
    import pandas as pd


def labels_frame(diff: ProfileDiff) -> pd.DataFrame:
    """Return one row per label key and value: largest |delta_scaled| first, then names.

    Columns: key, value, base, new, delta (int64), status (categorical both, new, gone),
    base_scaled, new_scaled, delta_scaled (float64), plus z and noise if there is a
    noise model. The value of a numeric label is its number and unit. Value ``""`` is
    for samples without the key, so that a key's rows add up to the totals. Keys with
    two values on one sample, or more than 10,000 values, are left out.
    """
    import pandas as pd

    labels = few_valued(diff, _MOST_ASKED)
    each = [sums_by_run(diff.run_values, one.sides, len(one.values)) for one in labels]
    none = np.zeros(0, np.int64)
    base, new = (
        tuple(np.concatenate([none, *runs]) for runs in zip(*side, strict=True))
        or (none,)
        for side in ([one.base for one in each], [one.new for one in each])
    )
    old, now = merged(Runs(base, new))
    valued = np.flatnonzero((old != 0) | (now != 0))
    runs = Runs(base, new).map(lambda run: run[valued])
    old, now = old[valued], now[valued]
    names = [(one.key, value) for one in labels for value in one.values]
    chosen = [names[row] for row in valued.tolist()]
    status = np.where((old != 0) & (now != 0), 0, np.where(now != 0, 1, 2))
    scaled = diff.normalization.scaled(old, now)
    columns: dict[str, object] = {
        "key": pd.Series([key for key, _ in chosen], dtype="str"),
        "value": pd.Series([value for _, value in chosen], dtype="str"),
        "base": old,
        "new": now,
        "delta": now - old,
        "status": pd.Categorical.from_codes(status.tolist(), pd.Index(STATUSES)),
        "base_scaled": scaled[0],
        "new_scaled": scaled[1],
        "delta_scaled": scaled[1] - scaled[0],
    }
    judged = diff.judge_runs(runs)
    if judged is not None:
        columns |= {"z": judged.z, "noise": judged.noise}
    # Rows are sorted by name.
    order = np.argsort(-np.abs(scaled[1] - scaled[0]), kind="stable")
    return pd.DataFrame(columns).iloc[order].reset_index(drop=True)


class _Labelled(NamedTuple):
    """The value of one label key on each sample.

    `values` are distinct, the first ``""`` for samples without the key; `sides` are
    indices into it for base and new.
    """

    key: str
    values: tuple[str, ...]
    sides: tuple[Column, Column]


def few_valued(diff: ProfileDiff, most: int) -> list[_Labelled]:
    """Return the label keys with at most `most` values, and one per sample, by key.

    The value of a numeric label is its number and unit.
    """
    profiles = diff.base.profile, diff.new.profile
    sides = [_by_key(profile, most) for profile in profiles]
    kept = []
    for key in sorted({*sides[0], *sides[1]}):
        if any(key in side and not side[key] for side in sides):
            continue
        known = [side.get(key, {}) for side in sides]
        values = sorted({*known[0], *known[1]})
        if len(values) > most:
            continue
        columns = [
            _positions(samples, values, len(profile))
            for samples, profile in zip(known, profiles, strict=True)
        ]
        base, new = columns
        if base is not None and new is not None:
            kept.append(_Labelled(key, ("", *values), (base, new)))
    return kept


def _positions(
    samples: dict[str, Column], values: list[str], size: int
) -> Column | None:
    column = np.zeros(size, np.int64)
    place = {value: i for i, value in enumerate(values, 1)}
    for value, with_it in samples.items():
        if column[with_it].any():
            return None
        column[with_it] = place[value]
    return column


def _by_key(profile: Profile, most: int) -> dict[str, dict[str, Column]]:
    """Return the samples with each label, by key and value.

    A key with more than `most` values, such as a request ID, maps to nothing.
    """
    known, texts, group = _texts(profile)
    sample = profile.labels.sample[known]
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group, minlength=len(texts)))
    values: dict[str, set[str]] = {}
    for key, value in texts:
        values.setdefault(key, set()).add(value)
    by_key: dict[str, dict[str, Column]] = {key: {} for key in values}
    for i, (key, value) in enumerate(texts):
        if len(values[key]) <= most:
            part = sample[order[ends[i - 1] if i else 0 : ends[i]]]
            by_value = by_key[key]
            whole = np.append(by_value.get(value, part[:0]), part)
            by_value[value] = distinct(whole)
    return by_key


def _texts(profile: Profile) -> tuple[Column, list[tuple[str, str]], Column]:
    strings, labels = profile.strings, profile.labels
    known = np.flatnonzero(
        (labels.text != 0) | (labels.number != 0) | (labels.unit != 0)
    )
    columns = labels.key[known], labels.text[known], labels.number[known]
    first, group = unique_tuples((*columns, labels.unit[known]))
    texts = []
    for row in known[first].tolist():
        text = strings[labels.text[row]]
        word = text or f"{int(labels.number[row])} {strings[labels.unit[row]]}".rstrip()
        texts.append((strings[labels.key[row]], word))
    return known, texts, group


# Label keys that servers and workers commonly use for the kind of work.
_USUAL = (
    *("endpoint", "route", "handler", "http_route", "http.route", "rpc", "grpc_method"),
    *("method", "path", "operation", "task", "job", "query", "tenant"),
)
# Keys for where a sample was taken, or an object's size: not kinds of work.
_PLACES = frozenset(
    {
        *("alignment", "bytes", "comm", "container", "goroutine", "host", "hostname"),
        *("instance", "node", "pid", "pod", "process", "request", "run", "thread"),
        *("thread id", "thread name", "thread native id", "thread_id", "thread_name"),
        *("tid", "version"),
    }
)
# Most values, each a row of the table, of a usual key and of any other key.
_MOST_USUAL, _MOST = 200, 20
_MOST_ASKED = 10_000


class ByLabel(Struct, frozen=True, eq=False):
    """The values of one label, judged together.

    `values` includes "" for samples without the key, if any. `sides` has the position
    in it of each sample's value. `runs` holds each value's raw sums per run.
    """

    key: str
    values: tuple[str, ...]
    sides: tuple[NDArray[np.int64], NDArray[np.int64]]
    runs: Runs[NDArray[np.int64]]
    judged: Judgement | None


def by_label(diff: ProfileDiff, asked: str = "") -> ByLabel | None:
    """Return the cost per value of a label; None if no label identifies the work.

    `asked` is the key; "" selects one that most samples of both sides carry: a usual
    key, or else the only one with few values. Raises UsageError if no sample has the
    requested key, or if a sample has two values of it.
    """
    if asked:
        keys = {one.key: one for one in few_valued(diff, _MOST_ASKED)}
        if asked not in keys:
            known = ", ".join(map(printable, keys))
            have = f"labels are {known}" if known else "samples have no labels"
            raise UsageError(f"--by {printable(asked)}: no label has this name: {have}")
        return _judged(diff, keys[asked])
    keys = {
        one.key: one
        for one in few_valued(diff, _MOST_USUAL)
        if one.key not in _PLACES and len(one.values) > 2 and _covers(diff, one)
    }
    for key in _USUAL:
        if key in keys:
            return _judged(diff, keys[key])
    few = [one for one in keys.values() if len(one.values) <= _MOST + 1]
    return _judged(diff, few[0]) if len(few) == 1 else None


def _covers(diff: ProfileDiff, label: _Labelled) -> bool:
    """Return whether samples with the label make up most of both sides' totals.

    It identifies the work then.
    """
    shares = []
    for of_sample, values, total in zip(
        label.sides, diff.values, diff.totals, strict=True
    ):
        shares.append(int(values[of_sample > 0].sum()) > MOST * total)
    return all(shares)


def _judged(diff: ProfileDiff, label: _Labelled) -> ByLabel:
    size = len(label.values)
    runs = sums_by_run(diff.run_values, label.sides, size)
    some = np.zeros(size, np.bool_)
    for run in (*runs.base, *runs.new):
        some |= run != 0
    kept = np.flatnonzero(some)
    runs = runs.map(lambda run: run[kept])
    judged = diff.judge_runs(runs)
    values = tuple(label.values[i] for i in kept.tolist())
    # A value without a row has no samples that count.
    place = np.maximum(np.cumsum(some) - 1, 0)
    base, new = (place[side] for side in label.sides)
    return ByLabel(label.key, values, (base, new), runs, judged)


def labelled_with(diff: ProfileDiff, key: str) -> _Labelled | None:
    """Return the values of a key; None if no sample has it, or one has two of them."""
    found = (one for one in few_valued(diff, _MOST_ASKED) if one.key == key)
    return next(found, None)
