"""``pprofdiff bisect``: its arguments, its progress, and the final report."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log
from typing import Any

from pprofdiff.analysis.bisection.result import Point
from pprofdiff.analysis.bisection.search import FEWEST_ROUNDS, Search
from pprofdiff.analysis.gate.model import Ruling
from pprofdiff.analysis.gate.rules import Gate
from pprofdiff.analysis.judge.student import NORMAL
from pprofdiff.analysis.judge.totals import Ratio, ratio_of_sums
from pprofdiff.analysis.outcome.model import Outcome
from pprofdiff.analysis.policy import SAME_WITHIN
from pprofdiff.cli.arguments import flags_help, folded, parse_with
from pprofdiff.cli.measure import Progress, of_runs, parted
from pprofdiff.cli.options import BISECT_FLAGS, Options
from pprofdiff.cli.run import draw, quietly, refuse_early, run
from pprofdiff.cli.screen import Screen
from pprofdiff.cli.settings import with_settings
from pprofdiff.errors import UsageError
from pprofdiff.measure.bisecting import Bisected, Question, Watcher, bisected
from pprofdiff.measure.figures import BenchmarkFigures
from pprofdiff.measure.goflags import GoTest, go_test
from pprofdiff.measure.leaves import Leaf
from pprofdiff.measure.rounds import Limits
from pprofdiff.measure.session import Request, measured
from pprofdiff.model.source import Revision, Sources
from pprofdiff.report.sections.bisection import bisection_parts
from pprofdiff.report.sections.changes import bounds, change
from pprofdiff.units import many, printable

_ROUNDS = 20
# Characters of a subject on a line of progress.
_SUBJECT = 40


def run_bisect(words: list[str], screen: Screen) -> int:
    """Find the commit, report it against its parent, and return the exit status."""
    own, go_words = parted(words)
    options, chosen, refs = parse_with(own, BISECT_FLAGS)
    if options.view == "help":
        screen.write(folded(_help(), screen.width()))
        return 0
    # Rules of a settings file are for builds: the question is what was typed.
    options = with_settings(options)._replace(
        fail_on=options.fail_on, fail_on_of=options.fail_on_of
    )
    refuse_early(options)
    question = _question(options, chosen, refs, go_words)
    figures: BenchmarkFigures | RuleFigures
    if options.fail_on:
        figures = RuleFigures(options, screen)
    else:
        least = SAME_WITHIN if options.same_within is None else options.same_within
        figures = BenchmarkFigures(least, faster=question.words == "faster")
    progress = Progress(screen, shown=options.progress)
    with progress.at_work(), bisected(question, figures, _watcher(progress)) as it:
        return _reported(it, question, options, screen, progress)


def _reported(
    it: Bisected,
    question: Question,
    options: Options,
    screen: Screen,
    progress: Progress,
) -> int:
    """Measure the commit against its parent, else both ends, and report."""
    found = it.found
    if found.stopped == "interrupted":
        # To measure for a report takes a minute, which is not what Ctrl-C asks for.
        draw(list(bisection_parts(found)), options.color, screen)
        return 0
    base, new = (found.commits[one].id for one in found.compared)
    request = Request(base, new, it.asked, Limits(), question.profile_s)
    # The rule was the question, and is answered.
    options = options._replace(fail_on=())
    progress.say(f"measuring {new[:9]} against {base[:9]} for the report")

    def so_far(out: str, sources: Sources) -> Outcome:
        return quietly(of_runs(out, options), screen, sources=sources).outcome

    progress = Progress(screen, shown=options.progress)
    built = it.built(base, new)
    with progress.at_work(), measured(request, so_far, progress, built) as of_commit:
        progress.over(of_commit)
        shown = of_runs(of_commit.out, options)._replace(within=of_commit.out)
        shown = shown._replace(
            base=(f"{base[:9]}={shown.base[0]}",), new=(f"{new[:9]}={shown.new[0]}",)
        )
        return run(shown, screen, of_commit.sources, found)


def _watcher(progress: Progress) -> Watcher:
    """Return what prints the progress of a search, a line per measurement."""

    def began(commits: tuple[Revision, ...], most: int) -> None:
        count = many(len(commits) - 1, "commit")
        first, last = commits[0].short, commits[-1].short
        progress.say(f"{count} from {first} to {last}; at most {most} are built")

    def ends(figures: Mapping[str, Point]) -> None:
        for name, one in figures.items():
            between = bounds(one.ratio, one.low, one.high)
            progress.say(
                f"the ends after {many(one.rounds, 'round')}: {printable(name)} "
                f"{change(one.ratio)} ({between})"
            )

    def learned(one: Revision, at: int, searches: Mapping[str, Search]) -> None:
        said, rounds = [], 0
        for search in searches.values():
            if at in search.readings:
                reading = search.readings[at]
                rounds = reading.rounds
                far = NORMAL.of_95 * reading.sigma
                ratios = [exp(reading.value + way) for way in (0.0, -far, far)]
                left = many(search.left(search.posterior()), "commit")
                said.append(f"{change(ratios[0])} ({bounds(*ratios)}), {left} left")
        again = f" (round {rounds})" if rounds > 1 else ""
        subject = printable(one.subject)[:_SUBJECT]
        progress.say(f"  {one.short} {'; '.join(said)}{again}  {subject}")

    def skipped(one: Revision, reason: str) -> None:
        progress.say(f"  {one.short} skipped: {reason}")

    return Watcher(progress.doing, progress.warn, began, ends, learned, skipped)


def _question(
    options: Options, chosen: dict[str, Any], refs: list[str], go_words: list[str]
) -> Question:
    """Return what to search for; raises UsageError."""
    if len(refs) != 2:
        raise UsageError(
            "bisect: give two refs, pprofdiff bisect GOOD BAD; packages and flags of "
            "go test go after --"
        )
    if options.base or options.pair or options.work or options.rps:
        raise UsageError(
            "bisect: refs are measured: leave out -diff_base, --pair, --work and --rps"
        )
    if options.git or options.repo or options.source:
        raise UsageError(
            "bisect: the source of all commits is known; leave out --git, --repo and "
            "--source, and go to the repository"
        )
    faster = chosen.get("faster", False)
    if faster and options.fail_on:
        raise UsageError("--faster and --fail-on are two questions: give one")
    rounds = chosen.get("rounds", _ROUNDS)
    if rounds < 1:
        raise UsageError(f"--rounds {rounds}: must be 1 or more")
    return Question(
        (refs[0], refs[1]),
        go_test(go_words),
        " ".join(options.fail_on) or ("faster" if faster else "slower"),
        chosen.get("first_parent", False),
        rounds,
        chosen.get("time"),
        chosen.get("per_run", 1.0),
        chosen.get("state", ""),
        tuple(go_words),
    )


class RuleFigures:
    """What rules of the gate hold against their limits, for the rules that trip."""

    profiled = True

    def __init__(self, options: Options, screen: Screen) -> None:
        self._options = options
        self._screen = screen
        self._gate = Gate.of(options.fail_on, strict=options.strict)
        self._chosen: list[str] = []

    def at_ends(self, out: str, rounds: int, *, last: bool) -> dict[str, Ratio] | None:
        """Return the rules that trip at the bad end; see `Figures`."""
        rulings = self._rulings(out)
        tripped = [one for one in rulings if one.outcome == "fail"]
        exact = all(one.low == one.high for one in tripped)
        decided = all(one.outcome in ("pass", "fail") for one in rulings)
        if not last and not (
            decided and (rounds >= FEWEST_ROUNDS or (tripped and exact))
        ):
            return None
        self._chosen = [one.rule for one in tripped if _ratio(one) is not None]
        return self.at(out)

    def at(self, out: str) -> dict[str, Ratio]:
        """Return rules' figures; see `Figures`."""
        found = {one.rule: _ratio(one) for one in self._rulings(out)}
        return {
            rule: ratio
            for rule, ratio in found.items()
            if ratio is not None and rule in (self._chosen or found)
        }

    def _rulings(self, out: str) -> tuple[Ruling, ...]:
        here = of_runs(out, self._options)
        return quietly(here, self._screen, self._gate).verdict.rules

    def figure(self) -> str:
        """Return what is followed."""
        return ""

    def chosen(self) -> list[str]:
        """Return the rules that trip, as typed."""
        return self._chosen

    def shown(self, name: str) -> str:
        """Return a rule as typed."""
        return name

    def narrowed(self, asked: GoTest) -> GoTest:
        """Return all of what was asked: a rule may be about any part of it."""
        return asked

    def needs(self, leaf: Leaf) -> bool:  # noqa: ARG002 - likewise
        """Return True."""
        return True

    def noted(self) -> dict[str, Any]:
        """Return the rules that trip."""
        return {"rules": self._chosen}

    def chosen_before(self, noted: Mapping[str, Any]) -> None:
        """Choose the same rules."""
        self._chosen = list(noted["rules"])


def _ratio(ruling: Ruling) -> Ratio | None:
    """Return new ÷ base of a rule's figure, None without data.

    Where base has none of it, one unit is added to both sides.
    """
    base, new = ruling.base, ruling.new
    if base is None or new is None:
        return None
    more = 0.0 if min(base, new) > 0 else 1.0
    low, high = (base + more + (end or 0.0) for end in (ruling.low, ruling.high))
    sigma = 0.0
    if ruling.low is not None and ruling.high is not None and low > 0:
        sigma = log(high / low) / (2 * NORMAL.of_95)
    return ratio_of_sums(base + more, new + more, prior_sigma=0.0, scale_sigma=sigma)


def _help() -> str:
    lines = [
        "usage: pprofdiff bisect [flags] GOOD BAD [-- go test flags and packages]",
        "",
        "Find the commit between two refs that made benchmarks slower, and report it",
        "against its parent, as pprofdiff measure does.",
        "",
        "Each commit is measured in turns with GOOD. Each step is the one expected to",
        "narrow the search most for its cost: a new commit, or another round of one",
        "already built. The search ends when one commit has a probability of 98%.",
        "Commits that do not build or run are skipped. Your checkout is not changed:",
        "each commit is built once, in a temporary folder or in --state's.",
        "",
        *flags_help(BISECT_FLAGS),
        "",
        "With --fail-on RULE (pprofdiff --help), it finds the commit that trips the",
        "rule. Other flags of the report work here as well: -o FILE, -q …",
        "",
        "After -- come packages (default: .), -bench and other flags of go test. With",
        "several benchmarks, both ends run all of them, and the search the ones that",
        "changed.",
        "",
        "Ctrl-C ends the search and prints what is known; -o files are not written.",
        "",
        "Examples:",
        "  pprofdiff bisect v1.4.0 HEAD -- -bench=Compress ./codec",
        "  pprofdiff bisect --state /tmp/search --time 10m v1.4.0 HEAD -- ./...",
        "  pprofdiff bisect --fail-on 'bench:allocs/op:+0%' main HEAD -o found.html",
    ]
    return "\n".join(lines) + "\n"
