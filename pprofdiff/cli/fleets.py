"""Translate the command line's options for reading fleets."""

from __future__ import annotations

from pprofdiff.cli.options import Options
from pprofdiff.cli.progress import Waiting
from pprofdiff.fleets.sides import MAX_SKIPPED, FleetOptions


def fleet_options(options: Options, waiting: Waiting) -> FleetOptions:
    """Return the options for reading fleets; `waiting` shows progress."""
    return FleetOptions(
        by=options.by or None,
        scheduler=options.scheduler,
        max_skipped=(
            MAX_SKIPPED if options.max_skipped is None else options.max_skipped
        ),
        labels=bool(options.tagfocus or options.tagignore),
        max_size=options.max_size,
        anonymous=options.no_paths,
        progress=waiting.say,
        group_by=options.group_by,
    )
