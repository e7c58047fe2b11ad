"""``--over``: read, judge, print and write many builds or windows of time."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from pprofdiff.cli.options import FLAGS, Options
from pprofdiff.cli.progress import Waiting
from pprofdiff.cli.run import draw, fleet_options, say_failed, write_files
from pprofdiff.cli.screen import Screen
from pprofdiff.errors import UsageError
from pprofdiff.report.series.files import series_writer_for

# The options that apply to a series; all others are for two builds.
_TAKEN = frozenset(
    (
        *("over", "every", "by", "scheduler", "max_skipped", "max_size", "no_paths"),
        *("outputs", "color", "progress", "quiet", "full", "new", "within"),
    )
)


def run_over(options: Options, screen: Screen) -> int:
    """Run a series and return the exit status."""
    _refuse_others(options)
    writers = [(path, series_writer_for(path)) for path in options.outputs]
    from pprofdiff.analysis.series.changes import need_ruptures
    from pprofdiff.analysis.series.judged import judge_series
    from pprofdiff.fleets.over import load_series
    from pprofdiff.report.series.sentences import series_parts, series_report

    need_ruptures()
    with Waiting(screen.messages, enabled=options.progress) as waiting:
        how = fleet_options(options, waiting)
        loaded = load_series(options.new, options.over, how, every=options.every)
        waiting.say("comparing")
        report = series_report(judge_series(loaded.series), loaded.notes)
        parts = [] if options.quiet else list(series_parts(report, full=options.full))
        waiting.say("writing")
        failed = write_files([(path, partial(w, report)) for path, w in writers])
    with suppress(BrokenPipeError):
        draw(parts, options.color, screen)
    say_failed(failed, screen)
    return 2 if failed else 0


def _refuse_others(options: Options) -> None:
    """Refuse flags that apply only to two builds."""
    plain = Options()
    for flag in FLAGS:
        field = flag.field
        if field not in _TAKEN and getattr(options, field) != getattr(plain, field):
            typed = flag.name.replace("_", "-")
            raise UsageError(f"-{typed} compares two builds: leave it out with --over")
