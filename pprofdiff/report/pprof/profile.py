"""The diff as ``go tool pprof`` has it: a profile it opens, or the text of its views.

The base's samples are negated and labelled ``pprof::base``, as ``go tool pprof
-proto -diff_base`` writes them, so that its reports and its flame graph show the diff.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pprofdiff.cli.options import Options
from pprofdiff.errors import IncompatibleProfilesError, UsageError
from pprofdiff.loaders.profiles.encode import compress, encode
from pprofdiff.model.profiles.merge import merge, normalized, subtract
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.report.model import ReportModel
from pprofdiff.report.sections.verdict import verdict_comments

__all__ = ["render", "view_bytes"]


def render(report: ReportModel) -> bytes:
    """Return the first comparison as a gzip profile: raw values, all sample types.

    The gate's verdict is in its comments, which ``go tool pprof`` shows above each of
    its reports, and ``-comments`` alone.
    """
    if not report.profiles:
        raise UsageError("a .pb.gz is a profile, and there is none to subtract")
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
    base: Sequence[Profile],
    new: Sequence[Profile],
    options: Options,
    warn: Callable[[str], None],
) -> bytes:
    """Return what ``-top``, ``-peek`` or ``-proto`` prints of new minus base.

    An empty `base` means new alone. Raises UsageError for options that contradict
    each other or name nothing.
    """
    profile = merge(new)
    if base:
        subtrahend = merge(base)
        if options.normalize:
            profile = normalized(profile, subtrahend)
        profile = subtract(profile, subtrahend, label=options.subtract == "diff_base")
    elif options.normalize:
        raise UsageError("-normalize needs a base: -diff_base=BASE")
    if options.view == "proto":
        from pprofdiff.report.pprof.view import view

        return compress(encode(view(profile, options, warn).profile))
    if options.view == "top":
        from pprofdiff.report.pprof.top import render as text
    else:
        from pprofdiff.report.pprof.peek import render as text
    return text(profile, options, warn).encode()
