"""`ReportModel`: all that any writer may show, so that writers cannot disagree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pprofdiff.diff.bundle import BundleDiff
from pprofdiff.diff.comparable import Caveat, go_version
from pprofdiff.diff.compare import ProfileDiff
from pprofdiff.diff.kinds import kind_name
from pprofdiff.diff.side import Run

__all__ = ["Input", "ReportModel", "report_of"]


class Input(NamedTuple):
    """One file that went in; None where it does not say."""

    path: str
    kind: str
    samples: int
    go_version: str | None = None
    build_id: str | None = None
    duration_ns: int | None = None
    time_ns: int | None = None
    period: int | None = None
    saved_to: str | None = None


class ReportModel(NamedTuple):
    """A finished comparison: inputs, what changed, and what to know about it.

    `labels`, `inputs` are (base, new); `filters` are the choices that differ from the
    defaults, as typed; `lonely` are (kind, label) that one side only has.
    """

    labels: tuple[str, str]
    inputs: tuple[tuple[Input, ...], tuple[Input, ...]]
    bundle: BundleDiff
    warnings: tuple[Caveat, ...]
    filters: tuple[str, ...]

    @property
    def profiles(self) -> tuple[ProfileDiff, ...]:
        """The comparisons, most telling first."""
        return self.bundle.profiles


def report_of(
    bundle: BundleDiff,
    *,
    filters: Sequence[str] = (),
    warnings: Sequence[Caveat] = (),
    saved: tuple[Sequence[str | None], Sequence[str | None]] | None = None,
) -> ReportModel:
    """Return the report of a comparison.

    `saved` names, for each side, the copy of each of its runs; None for local files.
    """
    told: dict[str, Caveat] = {c.text: c for c in warnings}
    for diff in bundle.profiles:
        for caveat in diff.warnings:
            told.setdefault(caveat.text, caveat)
    sides = (bundle.base.runs, bundle.new.runs)
    copies = saved or tuple([None] * len(runs) for runs in sides)
    return ReportModel(
        labels=(bundle.base.label, bundle.new.label),
        inputs=(_inputs(sides[0], copies[0]), _inputs(sides[1], copies[1])),
        bundle=bundle,
        warnings=tuple(told.values()),
        filters=tuple(filters),
    )


def _inputs(runs: Sequence[Run], saved: Sequence[str | None]) -> tuple[Input, ...]:
    """Return a side's files; all of them together tell which Go built the program."""
    version = go_version(*(run.profile for run in runs))
    return tuple(
        _input(run, version, copy) for run, copy in zip(runs, saved, strict=True)
    )


def _input(run: Run, version: str | None, saved_to: str | None) -> Input:
    profile = run.profile
    kinds = [kind.type for kind in profile.sample_types]
    samples = len(profile)
    if "samples" in kinds:
        samples = int(np.abs(profile.values[:, kinds.index("samples")]).sum())
    return Input(
        path=run.path,
        kind=kind_name(profile),
        samples=samples,
        go_version=version,
        build_id=profile.mappings[0].build_id or None if profile.mappings else None,
        duration_ns=profile.duration_ns,
        time_ns=profile.time_ns,
        period=profile.period,
        saved_to=saved_to,
    )
