"""`ReportModel`: all that any writer may show, so that writers cannot disagree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pprofdiff.diff.bundle import BundleDiff
from pprofdiff.diff.comparable import Caveat, go_version
from pprofdiff.diff.compare import ProfileDiff
from pprofdiff.diff.kinds import kind_name
from pprofdiff.diff.side import Run

__all__ = ["Input", "ReportModel", "report_of"]


@dataclass(frozen=True, slots=True)
class Input:
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


@dataclass(frozen=True, slots=True, eq=False)
class ReportModel:
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
    saved: dict[str, str] | None = None,
) -> ReportModel:
    """Return the report of a comparison; `saved` names the copies of fetched inputs."""
    told: dict[str, Caveat] = {c.text: c for c in warnings}
    for diff in bundle.profiles:
        for caveat in diff.warnings:
            told.setdefault(caveat.text, caveat)
    copies = saved or {}
    return ReportModel(
        labels=(bundle.base.label, bundle.new.label),
        inputs=(_inputs(bundle.base.runs, copies), _inputs(bundle.new.runs, copies)),
        bundle=bundle,
        warnings=tuple(told.values()),
        filters=tuple(filters),
    )


def _inputs(runs: Sequence[Run], saved: dict[str, str]) -> tuple[Input, ...]:
    """Return a side's files; all of them together tell which Go built the program."""
    version = go_version(*(run.profile for run in runs))
    return tuple(_input(run, version, saved.get(run.path)) for run in runs)


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
