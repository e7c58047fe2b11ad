"""Parse the command line into `Options`, in pprof's spelling and in the usual one.

``-diff_base=x``, ``--diff-base x`` and ``-diff_base x`` are the same flag. Switches
take a value only after ``=``, as in Go's flag package, so none can swallow a profile.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pprofdiff.cli.flag_values import flag_value
from pprofdiff.cli.options import (
    FLAGS,
    PPROF_ONLY,
    REFUSED,
    REFUSED_WITH_VALUE,
    Flag,
    Options,
)
from pprofdiff.errors import UsageError

# Flags about pprofdiff itself, and the view that answers each.
_ASKING = {"help": "help", "h": "help", "version": "version", "V": "version"}
_ANSWERS = frozenset(_ASKING.values())
_LABEL = r"[^/\\.:=?#]+="
_BY_NAME = {flag.name: flag for flag in FLAGS}
_SHORT = {flag.short: flag.name for flag in FLAGS if flag.short}
# The part of a help line before its last column; two spaces separate columns.
_LAST_COLUMN = r"\s*\S.*\s{2,}(?=\S)"
# A narrower column is not used as an indent.
_NARROWEST = 30
_WITHOUT_VALUE = ("set", "bool")


def parse(argv: list[str]) -> Options:
    """Parse the command line; raises UsageError that says what to type."""
    flags, places = _split(argv, _BY_NAME)
    options = _options(flags, places)
    return options if options.view in _ANSWERS else _with_sides(options, places)


def parse_with(
    argv: list[str], own: Sequence[Flag]
) -> tuple[Options, dict[str, object], list[str]]:
    """Return options, the values of a command's own flags, and the arguments."""
    by_name = {flag.name: flag for flag in own}
    flags, places = _split(argv, _BY_NAME | by_name)
    chosen: dict[str, object] = {}
    for _, name, value in flags:
        if name in by_name:
            _store(chosen, by_name[name], value)
    others = [flag for flag in flags if flag[1] not in by_name]
    return _options(others, places), chosen, places


def _options(flags: list[tuple[str, str, str]], places: list[str]) -> Options:
    chosen: dict[str, object] = {}
    for typed, name, value in flags:
        if name in _ASKING:
            return Options(view=_ASKING[name])
        if name in REFUSED:
            command = _for_pprof(flags, places)
            raise UsageError(f"-{typed} is not here; type: {command}")
        _store(chosen, _flag(typed, name), value)
    if chosen.get("explain") and chosen.get("view"):
        raise UsageError(f"-explain and -{chosen['view']} are two views: give one")
    _no_gate_with(chosen)
    options = Options(**chosen)  # type: ignore[arg-type]
    if options.work and options.rps:
        raise UsageError("--work and --rps exclude each other: give one")
    if options.normalize and options.rps:
        raise UsageError("-normalize and --rps contradict each other: give one")
    _no_pprof_only(options.view, flags)
    return options


def _no_pprof_only(view: str, flags: list[tuple[str, str, str]]) -> None:
    """Refuse flags of pprof's tables with a view that has none."""
    for typed, name, _ in flags:
        if view in ("report", "list", "waits") and name in PPROF_ONLY:
            others = "add one of them" if view == "report" else f"not with -{view}"
            raise UsageError(f"-{typed} goes with -top or -peek: {others}")


def _no_gate_with(chosen: dict[str, object]) -> None:
    """Refuse report-only flags with another view, which shows no verdict."""
    view = "explain" if chosen.get("explain") else chosen.get("view")
    for flag in FLAGS:
        if view and flag.views == "report" and chosen.get(flag.field):
            typed = flag.name.replace("_", "-")
            raise UsageError(f"--{typed} is for the report: leave out -{view}")


def _split(
    argv: list[str], known: Mapping[str, Flag]
) -> tuple[list[tuple[str, str, str]], list[str]]:
    """Return flags, as (as typed, plain name, value), and positional arguments."""
    flags: list[tuple[str, str, str]] = []
    places: list[str] = []
    words = list(argv)
    while words:
        word = words.pop(0)
        if word == "--":
            places += words
            break
        if word == "-" or not word.startswith("-"):
            places.append(word)
            continue
        typed, equals, value = word.lstrip("-").partition("=")
        name = typed.replace("-", "_")
        name = _SHORT.get(name, name)
        if _takes_value(name, known) and not equals:
            if not words:
                raise UsageError(f"-{typed} needs a value: -{typed}=…")
            value = words.pop(0)
        flags.append((typed, name, value))
    return flags, places


def _takes_value(name: str, known: Mapping[str, Flag]) -> bool:
    if name in known:
        return known[name].kind not in _WITHOUT_VALUE
    return name in REFUSED_WITH_VALUE


def _flag(typed: str, name: str) -> Flag:
    """Return the flag with this name; raises UsageError with the closest match."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    from difflib import get_close_matches

    near = get_close_matches(name, _BY_NAME, n=1)
    hint = f"; did you mean -{near[0]}?" if near else "; see pprofdiff --help"
    raise UsageError(f"unknown flag -{typed}{hint}")


def _for_pprof(flags: list[tuple[str, str, str]], places: list[str]) -> str:
    """Return the equivalent ``go tool pprof`` command: flags, base, source."""
    from shlex import join

    words = ["go", "tool", "pprof"]
    based = False
    for _, name, value in flags:
        if name in ("base", "diff_base"):
            based = True
            words.append(f"-{name}={_without_label(value)}")
        elif name in REFUSED or (name in _BY_NAME and not _BY_NAME[name].ours):
            with_value = value or _takes_value(name, _BY_NAME)
            words.append(f"-{name}={value}" if with_value else f"-{name}")
    bare = [_without_label(place) for place in places]
    if len(bare) == 2 and not based:
        bare[0] = f"-diff_base={bare[0]}"
    return join([*words, *bare])


def _without_label(place: str) -> str:
    """Return an argument without ``label=``, as go tool pprof takes it."""
    return place.partition("=")[2] if re.match(_LABEL, place) else place


def _store(chosen: dict[str, object], flag: Flag, value: str) -> None:
    if flag.kind == "append":
        earlier = chosen.get(flag.field, ())
        chosen[flag.field] = (*earlier, value)  # type: ignore[misc]
        if flag.field == "base":
            _agree(chosen, "subtract", flag.name)
    elif flag.kind == "pairs":
        pairs = chosen.get(flag.field, ())
        chosen[flag.field] = (*pairs, flag_value(flag, value))  # type: ignore[misc]
    elif flag.kind == "set":
        if not flag_value(flag, value):
            return
        if flag.name == "mean_delay":
            _agree(chosen, "sample_index", "delay")
            chosen["mean"] = True
        else:
            _agree(chosen, flag.field, flag.value)
    elif flag.name == "sample_index":
        _agree(chosen, flag.field, value)
    else:
        if flag.name in ("peek", "list"):
            _agree(chosen, "view", flag.name)
        chosen[flag.field] = flag_value(flag, value)


def _agree(chosen: dict[str, object], field: str, value: str) -> None:
    """Set a field; raises UsageError if it has another value already."""
    earlier = chosen.setdefault(field, value)
    if earlier != value:
        raise UsageError(f"-{earlier} and -{value} contradict each other: give one")


def _with_sides(options: Options, places: list[str]) -> Options:
    """Return the options with base and new filled in from the arguments."""
    if options.over:
        return _with_steps(options, places)
    if options.every is not None:
        raise UsageError("--every is the width of windows: it goes with --over time")
    if options.pair and (options.base or len(places) > 1):
        raise UsageError("--pair compares benchmarks of one file: give one")
    if options.base:
        if not places:
            raise UsageError("give the new profile too: pprofdiff -diff_base=BASE NEW")
        return options._replace(new=tuple(places))
    if len(places) == 2:
        return options._replace(base=(places[0],), new=(places[1],))
    if len(places) == 1:
        return options._replace(new=(places[0],))
    if not places:
        raise UsageError(
            "give two profiles, pprofdiff BASE NEW; or try: pprofdiff demo"
        )
    raise UsageError(
        f"{len(places)} profiles: which are base and which new? "
        "pprofdiff -diff_base=B1 -diff_base=B2 N1 N2; or, of many builds in order: "
        "--over build"
    )


def _with_steps(options: Options, places: list[str]) -> Options:
    """Return the options for a series: all arguments are its steps."""
    if options.base:
        raise UsageError("-diff_base compares two builds: leave it out with --over")
    if not places:
        raise UsageError(
            "give the profiles of all steps: pprofdiff --over build 'DIR/build=*/**'"
        )
    return options._replace(new=tuple(places))


def help_text() -> str:
    """Return the text of ``--help``, generated from the table of flags."""
    lines = [
        "usage: pprofdiff [flags] BASE NEW",
        "       pprofdiff --over STEP [flags] PROFILES...",
        "       pprofdiff measure [flags] [BASE] [NEW] [-- go test flags and packages]",
        "       pprofdiff bisect [flags] GOOD BAD [-- go test flags and packages]",
        "       pprofdiff ci github|github-forks|gitlab   (prints a workflow)",
        "       pprofdiff mcp DIR...   (a server for agents)",
        "       pprofdiff demo",
        "",
        "What changed between two builds of a Go program, and how much of it is",
        "garbage collection, allocation, the scheduler, locks or your own code.",
        "",
        "BASE and NEW are pprof profiles, folded stacks, execution traces,",
        "GODEBUG=gctrace=1 logs, benchmark output, summaries of load generators (hey,",
        "wrk, vegeta, k6 …), folders of these, URLs such as",
        "http://host:6060/debug/pprof/profile, - for standard input, or label=path.",
        "",
    ]
    lines += [*flags_help(FLAGS), "", *_rules_help()]
    lines += [
        "",
        *_steps_help(),
        "",
        "Marks: ▲ ▼ significantly more or less than base; ~ within noise (three",
        "  standard deviations, corrected for the number of rows); none: can't tell.",
        "  (was X): the same function, renamed or moved; (probably was X): by its",
        "  samples, not its name; (perhaps X now): X may have replaced it.",
        "",
        "*: of -top and -peek only.",
        "Exit status: 0 done, 1 a rule of --fail-on tripped, 2 error: nothing was",
        "  compared, a file of a folder was damaged or unreadable (the rest is",
        "  compared), or an output could not be made (all others are).",
        "Flags may be spelled -x_y, --x_y or --x-y, with =value or the value next.",
        "",
        "Examples:",
        "  pprofdiff main=base/cpu.pb.gz pr=new/cpu.pb.gz",
        "  pprofdiff base/ new/ -o diff.json",
        "  pprofdiff --rps 120000:98000 base/ new/",
        "  pprofdiff --pair suffix=Old bench.txt",
        "  pprofdiff -top --state runnable -diff_base=base/trace.out new/trace.out",
        "  pprofdiff -top -diff_base=base/cpu.pb.gz new/cpu.pb.gz",
        "  pprofdiff base/cpu.pb.gz new/cpu.pb.gz --explain gc.mark",
        "  pprofdiff base/cpu.pb.gz new/cpu.pb.gz --list 'lineproto[.]'",
        "  pprofdiff --over build 'fleet/build=*/**'",
        "  pprofdiff base/ new/ --fail-on 'package:ingest:+20%' --fail-on total:+5%",
    ]
    return "\n".join(lines) + "\n"


def folded(text: str, width: int | None) -> str:
    """Return a text wrapped to `width` columns, indented to what a flag does."""
    return "".join(
        f"{line}\n" for one in text.splitlines() for line in _fold(one, width)
    )


def _fold(line: str, width: int | None) -> list[str]:
    if width is None or len(line) <= width:
        return [line]
    column = re.match(_LAST_COLUMN, line)
    indent = column.end() if column else len(line) - len(line.lstrip())
    if indent > width - _NARROWEST:
        indent = 0
    import textwrap

    return textwrap.wrap(
        line, width, subsequent_indent=" " * indent, break_on_hyphens=False
    )


def flags_help(flags: Sequence[Flag]) -> list[str]:
    """Return one line per flag, under a heading for each group."""
    lines: list[str] = []
    group = ""
    for flag in flags:
        if flag.group != group:
            group = flag.group
            lines += ["", f"{group}:"] if lines else [f"{group}:"]
        mark = "* " if flag.name in PPROF_ONLY else ""
        lines.append(f"  {_typed(flag):<24} {mark}{flag.help}")
    return lines


def _rules_help() -> list[str]:
    from pprofdiff.analysis.gate.forms import RULES

    return [
        "Rules of --fail-on trip where new is worse than base by more than LIMIT:",
        *(f"  {rule.form:<36} {rule.help}" for rule in RULES),
        "LIMIT: +5% of base; +2pp, percentage points of the total; +50ms, +2MiB or",
        "  +100, in the report's mode; -5% for a unit where more is better (MB/s);",
        "  1ms, without a sign, is a ceiling for a figure: new may not be over it.",
        "KIND@PROFILE judges another profile than cpu: total@allocs:+5%,",
        "  cum@inuse_space:main:+2MiB; figure@trace:… a trace, not the GC log.",
        "A rule trips if its whole interval is over LIMIT, passes if the whole",
        "  interval is within, and warns otherwise. A rule that matches nothing does",
        "  not pass.",
        'Settings: fail-on = ["…"], strict = true, same-within = "1%", in',
        "  pprofdiff.toml or under [tool.pprofdiff] in pyproject.toml, in the working",
        "  directory.",
    ]


def _steps_help() -> list[str]:
    return [
        "--over shows shares of many builds, or windows of time, as curves, and the",
        "  steps at which they changed. The build is a part of the path, as the host",
        "  is; give several patterns if needed. Builds are in the order of the",
        "  arguments, then of the numbers in their names, 1.9 before 1.10; list",
        "  commits one by one:",
        "  's3://…/build=a1f/**' 's3://…/build=07c/**' …",
        "  With time, a step is a window, by when profiles were taken.",
    ]


def _typed(flag: Flag) -> str:
    value = f"={flag.placeholder}" if flag.placeholder else ""
    return f"-{flag.name}{value}"
