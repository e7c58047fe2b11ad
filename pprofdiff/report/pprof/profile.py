"""The diff for ``go tool pprof``: a profile it opens, or the text of its views.

Base's samples are negated and labeled ``pprof::base``, as by ``-diff_base``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from msgspec.structs import replace

from pprofdiff.errors import IncompatibleProfilesError, UsageError
from pprofdiff.loaders.profiles.encode import compress, encode
from pprofdiff.model.profiles.merge import merge, normalized, subtract
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.report.model import ReportModel
from pprofdiff.report.pprof.view import ViewOptions, no_warning, view
from pprofdiff.report.sections.verdict import verdict_comments

ViewKind = Literal["top", "peek", "proto"]
"""One of pprof's views; ``proto`` is a profile."""


def render(report: ReportModel) -> bytes:
    """Return the first comparison as a gzip profile: raw values, all sample types.

    Its comments contain the gate's verdict; ``go tool pprof`` shows them.
    """
    if not report.profiles:
        raise UsageError("a .pb.gz needs profiles on both sides")
    diff = report.profiles[0]
    base, new = diff.base.profile, diff.new.profile
    try:
        if diff.normalization.mode == "share":
            new = normalized(new, base)
        subtracted = subtract(new, base, label=True)
    except IncompatibleProfilesError as error:
        paths = f"{diff.base.runs[0].path}, {diff.new.runs[0].path}"
        raise IncompatibleProfilesError(f"{paths}: {error}") from error
    comments = (*subtracted.comments, *verdict_comments(report.verdict))
    return compress(encode(replace(subtracted, comments=comments)))


def view_bytes(
    profile: Profile,
    kind: ViewKind,
    options: ViewOptions,
    *,
    pattern: str = "",
    warn: Callable[[str], None] = no_warning,
) -> bytes:
    """Return what ``-top``, ``-peek=<pattern>`` or ``-proto`` prints of a profile.

    The profile is already merged and subtracted; see `net`. `warn` is called for
    filters that match nothing. Raises UsageError for options that name nothing.
    """
    if kind == "proto":
        return compress(encode(view(profile, options, warn).profile))
    from pprofdiff.report.pprof.text import peek, top

    if kind == "peek":
        return peek(profile, pattern, options, warn).encode()
    return top(profile, options, warn).encode()


def net(
    new: Sequence[Profile],
    base: Sequence[Profile] = (),
    *,
    label: bool = True,
    normalize: bool = False,
) -> Profile:
    """Return the sum of `new` minus the sum of `base`, as ``go tool pprof`` subtracts.

    `label` marks base's samples, so that percentages are of base, as with
    ``-diff_base``. With `normalize`, new is scaled to base first; raises UsageError
    without a base.
    """
    profile = merge(new)
    if not base:
        if normalize:
            raise UsageError("-normalize needs a base: -diff_base=BASE")
        return profile
    subtrahend = merge(base)
    if normalize:
        profile = normalized(profile, subtrahend)
    return subtract(profile, subtrahend, label=label)
