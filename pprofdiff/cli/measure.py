"""``pprofdiff measure``: its arguments, its progress, and the final report."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from shlex import join
from shutil import get_terminal_size
from typing import Any

from pprofdiff.analysis.comparison import compare_sides
from pprofdiff.analysis.outcome.deciding import outcome
from pprofdiff.analysis.outcome.model import Outcome
from pprofdiff.analysis.settings import Settings
from pprofdiff.cli.arguments import flags_help, folded, parse_with
from pprofdiff.cli.options import MEASURE_FLAGS, Options
from pprofdiff.cli.progress import in_lines
from pprofdiff.cli.run import quietly, refuse_early, run
from pprofdiff.cli.screen import Screen
from pprofdiff.cli.settings import with_settings
from pprofdiff.errors import UsageError
from pprofdiff.inputs.sides import load_sides
from pprofdiff.kinds import KindId
from pprofdiff.measure.goflags import GoTest, go_test
from pprofdiff.measure.programs import program_words
from pprofdiff.measure.rounds import Limits
from pprofdiff.measure.session import Measured, Request, measured
from pprofdiff.measure.sides import SIDES
from pprofdiff.model.source import Sources
from pprofdiff.units import printable

_SPACE = 79
_TIMED: tuple[KindId, ...] = ("benchmark",)
_QUICK_ROUNDS, _QUICK_S, _QUICK_RUN_S = 3, 12.0, 0.5


def run_measure(words: list[str], screen: Screen) -> int:
    """Measure two refs and report; return the exit status."""
    own, go_words = parted(words)
    options, chosen, refs = parse_with(own, MEASURE_FLAGS)
    if options.view == "help":
        screen.write(folded(_help(), screen.width()))
        return 0
    options = with_settings(options)
    refuse_early(options)
    request = _request(options, chosen, refs, go_words)
    listener = Progress(screen, shown=options.progress)

    def so_far(out: str, sources: Sources) -> Outcome:
        return _so_far(out, sources, request, options, screen)

    with listener.at_work(), measured(request, so_far, listener) as it:
        listener.over(it)
        if chosen.get("quick"):
            screen.say(_least(so_far(it.out, it.sources)))
        if request.keep:
            screen.say(f"again: {_again(it, options)}")
        return run(_report(it, options), screen, it.sources)


def _least(outcome: Outcome) -> str:
    """Return the smallest change that a quick measurement can detect, as a message."""
    by = None if outcome.headline is None else outcome.headline.judged
    if by is None or not 0 < by.low <= by.high < float("inf"):
        return "--quick: too little was measured to find a change"
    reach = max(by.high / by.ratio, by.ratio / by.low) - 1
    return f"--quick: a change below about {100 * reach:.0f}% is not found"


def parted(words: list[str]) -> tuple[list[str], list[str]]:
    """Return our arguments, and those after ``--``, which are for go test."""
    if "--" not in words:
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]


def _request(
    options: Options, chosen: dict[str, Any], refs: list[str], go_words: list[str]
) -> Request:
    """Return what to measure; raises UsageError."""
    if len(refs) > 2:
        raise UsageError(
            f"measure: {len(refs)} refs: give BASE and NEW; packages and flags of go "
            "test go after --"
        )
    if options.base or options.pair:
        raise UsageError("measure: name the base as a ref: pprofdiff measure BASE NEW")
    if (options.work or options.rps) and "cmd" not in chosen:
        raise UsageError(
            "measure: benchmarks count their operations: leave out --work and --rps"
        )
    if options.git or options.repo or options.source:
        raise UsageError(
            "measure: the source of both sides is known; leave out --git, --repo and "
            "--source, and go to the repository"
        )
    quick = chosen.get("quick", False)
    limits = Limits(
        chosen.get("rounds", _QUICK_ROUNDS if quick else Limits().rounds),
        chosen.get("time", _QUICK_S if quick else None),
    )
    if limits.rounds < 1:
        raise UsageError(f"--rounds {limits.rounds}: must be 1 or more")
    keep = chosen.get("o_runs", "")
    if chosen.get("trace") and not keep:
        raise UsageError("--trace needs -o-runs DIR, where the traces go")
    command, load = (
        tuple(program_words(chosen[name], name)) if name in chosen else ()
        for name in ("cmd", "load")
    )
    asked = go_test(go_words)
    _one_kind(asked, chosen)
    base, new = [*refs, "", ""][:2]
    return Request(
        base,
        new,
        asked,
        limits,
        chosen.get("per_run", _QUICK_RUN_S if quick else 1.0),
        trace=chosen.get("trace", False),
        keep=keep,
        command=command,
        url=chosen.get("url", ""),
        load=load,
    )


def _one_kind(asked: GoTest, chosen: dict[str, Any]) -> None:
    """Refuse benchmark flags with --cmd, and an incomplete set of server flags."""
    if ("url" in chosen) != ("load" in chosen) or ("url" in chosen) > ("cmd" in chosen):
        raise UsageError(
            "a server needs all three: --cmd starts it, --url is the address of its "
            "/debug/pprof, --load sends it requests"
        )
    if "cmd" not in chosen:
        return
    if chosen.get("trace") and "url" not in chosen:
        raise UsageError("--trace is not for --cmd: the program writes what it does")
    plain = GoTest(build=asked.build, packages=asked.packages)
    if asked != plain:
        raise UsageError(
            "with --cmd, only packages and flags of go build go after --: no "
            "benchmark is run"
        )


def _report(it: Measured, options: Options) -> Options:
    within = "" if it.kept else it.out
    return of_runs(it.out, options)._replace(within=within)


def of_runs(out: str, options: Options) -> Options:
    """Return options whose sides are the runs in a folder."""
    base, new = os.path.join(out, "base"), os.path.join(out, "new")
    return options._replace(base=(base,), new=(new,))


def _so_far(
    out: str, sources: Sources, request: Request, options: Options, screen: Screen
) -> Outcome:
    """Return the outcome of the captures so far; for benchmarks, of the timed turns."""
    if not request.command:
        both = [os.path.join(out, side) for side in SIDES]
        loaded = load_sides(both[:1], both[1:], kinds=_TIMED)
        if loaded.base is not None:
            within = options.same_within
            settings = Settings() if within is None else Settings(same_within=within)
            return outcome(compare_sides(loaded.base, loaded.new, settings))
    return quietly(of_runs(out, options), screen, sources=sources).outcome


class Progress:
    """Shows progress: on one line of a terminal, else one line per round."""

    def __init__(self, screen: Screen, *, shown: bool) -> None:
        self._screen = screen
        self._shown = shown
        self._terminal = shown and screen.messages.isatty()
        self._written = False
        self._began = time.monotonic()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Clear the progress line at the end, even after an error."""
        try:
            yield
        finally:
            self._clear()

    def warn(self, message: str) -> None:
        """Print a warning."""
        self._clear()
        self._screen.say(f"pprofdiff: warning: {message}")

    def doing(self, message: str) -> None:
        """Show what is being done, on a terminal only, or if progress is lines."""
        if self._shown and in_lines():
            self._screen.say(message)
        if self._terminal:
            self._clear()
            room = min(_SPACE, get_terminal_size().columns - 1)
            self._screen.messages.write(message[:room])
            self._screen.messages.flush()
            self._written = True

    def say(self, message: str) -> None:
        """Print what stays on the screen."""
        self._clear()
        if self._shown:
            self._screen.say(message)

    def round(self, number: int, most: int, left: float) -> None:
        """Report a completed round."""
        text = f"round {number} of {most}"
        if left and number < most:
            text += f", {_time(left)} left at most"
        if self._terminal:
            self.doing(text)
        elif self._shown:
            self._screen.say(text)

    def over(self, it: Measured) -> None:
        """Report why measuring stopped."""
        self._clear()
        if not self._shown:
            return
        count = len(it.rounds)
        rounds = f"{count} round{'s' if count > 1 else ''}"
        why = {
            "sure": ": the verdict is sure",
            "rounds": "",
            "time": ": --time is used up",
            "interrupted": ": interrupted; complete rounds are reported",
        }[it.stopped]
        took = _time(time.monotonic() - self._began)
        self._screen.say(f"measured {rounds} in {took}{why}")

    def _clear(self) -> None:
        if self._written:
            self._screen.messages.write("\r\x1b[K")
            self._screen.messages.flush()
            self._written = False


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"


def _again(it: Measured, options: Options) -> str:
    """Return the command that makes the same report from the kept captures."""
    shown = _report(it, options)
    words = ["pprofdiff", *shown.base, *shown.new]
    if it.base.commit and it.new.commit:
        words.append(f"--git={it.base.commit}..{it.new.commit}")
    for name, pair in (("work", shown.work), ("rps", shown.rps)):
        words += [f"--{name}={pair[0]:g}:{pair[1]:g}"] if pair else []
    if shown.same_within is not None:
        words.append(f"--same-within={100 * shown.same_within:g}%")
    return join([printable(word) for word in words])


def _help() -> str:
    lines = [
        "usage: pprofdiff measure [flags] [BASE] [NEW] [-- go test flags and packages]",
        "",
        "Build two refs of the repository here, run their benchmarks in turns, and",
        "report what changed, as pprofdiff does with the captures.",
        "",
        "NEW is the working tree as it is, unless a ref is given; BASE the commit",
        "where it left the default branch (origin's, main or master). Each side is",
        "built once, in a temporary folder; the repository is not written to.",
        "",
        *flags_help(MEASURE_FLAGS),
        "",
        "Flags of the report (pprofdiff --help) work here as well: -o FILE,",
        "--fail-on RULE, -q …; the source of both sides is known.",
        "",
        "After -- come packages (default: .), -bench, -benchtime (per benchmark: 2s or",
        "500x), -cpu, -tags and other flags of go test. The iteration count of a",
        "benchmark is fixed once, for all rounds.",
        "",
        "--cmd runs a program in place of benchmarks: go build of the packages makes",
        "it, it comes first in PATH, and it runs in its side's folder.",
        "",
        "Ctrl-C stops the run and reports the rounds that are complete.",
        "",
        "Examples:",
        "  pprofdiff measure",
        "  pprofdiff measure v1.4.0 HEAD -- -bench=Compress ./codec",
        "  pprofdiff measure main --rounds 20 --time 10m -o report.html -- ./...",
        "  pprofdiff measure --cmd 'replay -n 1000 testdata/log' -- ./cmd/replay",
        "  pprofdiff measure -o-runs runs --trace HEAD~1 -- -tags=purego ./codec",
    ]
    return "\n".join(lines) + "\n"
