"""What the user asked for: one frozen `Options`, and the one table that describes it.

The words are those of ``go tool pprof``; ours are new words, never a pprof word with
another meaning. `FLAGS` feeds the command line, ``--help`` and the report's header.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = [
    "FLAGS",
    "PPROF_ONLY",
    "REFUSED",
    "REFUSED_WITH_VALUE",
    "RULES",
    "Flag",
    "Options",
    "RuleForm",
    "active",
]


class Options(NamedTuple):
    """One run's choices; the defaults are those of the command line.

    Patterns are regular expressions, empty for none; `work` is (base, new) operations
    done, `rps` operations a second; `window` holds (from, to), seconds since the process
    started, for both sides or for each; `pair` is the suffix of base's benchmarks;
    `seconds` and `timeout` are those of a fetch; `fail_on` holds rules as typed.
    """

    base: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    subtract: str = "diff_base"  # or "base"
    view: str = "report"  # or top, peek, proto
    peek: str = ""
    explain: str = ""
    normalize: bool = False
    work: tuple[float, float] | None = None
    rps: tuple[float, float] | None = None
    window: tuple[tuple[float | None, float | None], ...] = ()
    pair: str = ""
    drop_negative: bool = False
    sort: str = "flat"  # or cum
    nodecount: int = -1
    nodefraction: float = 0.005
    edgefraction: float = 0.001
    trim: bool = True
    granularity: str = "functions"  # or filefunctions, files, lines
    noinlines: bool = False
    relative_percentages: bool = False
    focus: str = ""
    ignore: str = ""
    hide: str = ""
    show: str = ""
    show_from: str = ""
    tagfocus: str = ""
    tagignore: str = ""
    sample_index: str = ""
    state: str = ""
    unit: str = "minimum"
    mean: bool = False
    outputs: tuple[str, ...] = ()
    joined: bool = False
    seconds: int | None = None
    timeout: float | None = None
    max_size: int = 1 << 30
    color: str = "auto"
    progress: bool = True
    quiet: bool = False
    no_paths: bool = False
    github_summary: bool = False
    fail_on: tuple[str, ...] = ()
    strict: bool = False
    only_if_changed: bool = False

    @property
    def patterns(self) -> bool:
        """Whether any pattern chooses samples or frames."""
        return any(
            getattr(self, flag.field) for flag in FLAGS if flag.group == _PATTERNS
        )


class Flag(NamedTuple):
    """One flag: how it is typed, what it sets, and what it means.

    `kind` is ``set`` (no argument: stores `value`), ``bool`` (``-x`` or ``-x=false``),
    ``str``, ``int``, ``float``, ``size``, ``work``, ``window``, ``pair``, ``append`` or
    ``choice`` (of the words in `value`).
    """

    name: str
    kind: str
    field: str
    help: str
    group: str
    value: str = ""


_PATTERNS = "Choose samples and frames (regular expressions, as in go tool pprof)"
_COMPARE = "Compare"
_VIEW = "Views (default: the report)"
_ROWS = "Rows"
_VALUE = "Which value"
_OUT = "Output"
_FETCH = "URLs"
_GATE = "Gate"

# fmt: off
FLAGS = (
    Flag("diff_base", "append", "base", "profile to subtract; repeat to add up", _COMPARE),
    Flag("base", "append", "base", "the same, as pprof's -base: percentages of the sum of both", _COMPARE),
    Flag("normalize", "bool", "normalize", "scale new to the base's total", _COMPARE),
    Flag("work", "work", "work", "operations each side did, as BASE:NEW; compares by operation", _COMPARE),
    Flag("rps", "work", "rps", "operations a second of each side, as BASE:NEW; the same", _COMPARE),
    Flag("window", "window", "window", "GC cycles to compare: FROM:TO seconds since the start; one, or one,one", _COMPARE),
    Flag("pair", "pair", "pair", "compare the benchmarks XOld and X of one file: suffix=Old", _COMPARE),
    Flag("drop_negative", "bool", "drop_negative", "leave out what became cheaper", _COMPARE),
    Flag("top", "set", "view", "pprof's table of functions", _VIEW, "top"),
    Flag("text", "set", "view", "the same as -top", _VIEW, "top"),
    Flag("peek", "str", "peek", "callers and callees of the functions that match", _VIEW),
    Flag("proto", "set", "view", "the diff as a profile, to standard output", _VIEW, "proto"),
    Flag("explain", "str", "explain", "stacks behind a function or category, and the rule that decided", _VIEW),
    Flag("joined", "bool", "joined", "also list functions paired under two names", _VIEW),
    Flag("flat", "set", "sort", "sort by own cost", _ROWS, "flat"),
    Flag("cum", "set", "sort", "sort by cost including callees", _ROWS, "cum"),
    Flag("nodecount", "int", "nodecount", "how many rows at most", _ROWS),
    Flag("nodefraction", "float", "nodefraction", "hide rows under this share (0.005)", _ROWS),
    Flag("edgefraction", "float", "edgefraction", "hide edges under this share (0.001)", _ROWS),
    Flag("trim", "bool", "trim", "apply the three limits above (-trim=false: all rows)", _ROWS),
    Flag("functions", "set", "granularity", "one row a function", _ROWS, "functions"),
    Flag("filefunctions", "set", "granularity", "one row a function and file", _ROWS, "filefunctions"),
    Flag("files", "set", "granularity", "one row a file", _ROWS, "files"),
    Flag("lines", "set", "granularity", "one row a source line", _ROWS, "lines"),
    Flag("noinlines", "bool", "noinlines", "charge inlined functions to their caller", _ROWS),
    Flag("relative_percentages", "bool", "relative_percentages", "percent of what the patterns left", _ROWS),
    Flag("focus", "str", "focus", "only stacks with a matching frame", _PATTERNS),
    Flag("ignore", "str", "ignore", "no stacks with a matching frame", _PATTERNS),
    Flag("hide", "str", "hide", "drop matching frames", _PATTERNS),
    Flag("show", "str", "show", "keep only matching frames", _PATTERNS),
    Flag("show_from", "str", "show_from", "drop frames above the first that matches", _PATTERNS),
    Flag("tagfocus", "str", "tagfocus", "only samples with a matching label, or number in a range", _PATTERNS),
    Flag("tagignore", "str", "tagignore", "no samples with a matching label", _PATTERNS),
    Flag("sample_index", "str", "sample_index", "sample type, by name or position", _VALUE),
    Flag("state", "choice", "state", "traces by stack: time running, runnable, blocked, syscall; cpu: samples", _VALUE, "running runnable blocked syscall cpu"),
    Flag("inuse_space", "set", "sample_index", "-sample_index=inuse_space", _VALUE, "inuse_space"),
    Flag("inuse_objects", "set", "sample_index", "-sample_index=inuse_objects", _VALUE, "inuse_objects"),
    Flag("alloc_space", "set", "sample_index", "-sample_index=alloc_space", _VALUE, "alloc_space"),
    Flag("alloc_objects", "set", "sample_index", "-sample_index=alloc_objects", _VALUE, "alloc_objects"),
    Flag("contentions", "set", "sample_index", "-sample_index=contentions", _VALUE, "contentions"),
    Flag("total_delay", "set", "sample_index", "-sample_index=delay", _VALUE, "delay"),
    Flag("mean_delay", "set", "mean", "-sample_index=delay -mean", _VALUE, "delay"),
    Flag("mean", "bool", "mean", "value by the first sample type (such as delay by contention)", _VALUE),
    Flag("unit", "str", "unit", "unit to print, such as ms or MB (minimum: fitting)", _VALUE),
    Flag("output", "append", "outputs", "write FILE: .html .md .json .csv .svg .png .pb.gz; repeatable (-o)", _OUT),
    Flag("color", "choice", "color", "auto, always or never", _OUT, "auto always never"),
    Flag("progress", "bool", "progress", "show progress of long work on a terminal", _OUT),
    Flag("quiet", "bool", "quiet", "print no report, only write -o files (-q)", _OUT),
    Flag("no_paths", "bool", "no_paths", "leave out local paths and hosts, as go build -trimpath", _OUT),
    Flag("github_summary", "bool", "github_summary", "add -o x.md's text to this GitHub step's summary, annotate what tripped", _OUT),
    Flag("fail_on", "append", "fail_on", "exit with 1 where a rule trips; see below; may be repeated", _GATE),
    Flag("strict", "bool", "strict", "noise may trip a rule, and a rule without data does", _GATE),
    Flag("only_if_changed", "bool", "only_if_changed", "print and write nothing within noise, if no rule trips", _GATE),
    Flag("seconds", "int", "seconds", "length of a live profile", _FETCH),
    Flag("timeout", "float", "timeout", "seconds until a fetch is given up", _FETCH),
    Flag("max_size", "size", "max_size", "largest input, decompressed (1GB)", _FETCH),
)
# fmt: on


class RuleForm(NamedTuple):
    """How one kind of ``--fail-on`` rule is typed, and when it trips.

    `subject` says what the rule names, "" for nothing; `limited` whether a limit ends
    it, and `ceiling` and `less` whether that may have no sign or a minus; `source`
    whether ``@`` may say which profile or log.
    """

    kind: str
    form: str
    help: str
    example: str
    subject: str = ""
    limited: bool = True
    ceiling: bool = False
    less: bool = False
    source: bool = True


# fmt: off
RULES = (
    RuleForm("cum", "cum:REGEX:LIMIT", "a function that matches, with its callees", r"cum:main\..*:+5%", "the function's pattern"),
    RuleForm("flat", "flat:REGEX:LIMIT", "the same, by its own cost", "flat:encoding/json:+50ms", "the function's pattern"),
    RuleForm("package", "package:REGEX:LIMIT", "a package that matches, with its callees", "package:^main$:+5%", "the package's pattern"),
    RuleForm("group", "group:ID:LIMIT", "a group of runtime costs: gc, alloc, sched …", "group:gc:+2pp", "the group's id"),
    RuleForm("category", "category:ID:LIMIT", "one category: gc.mark.assist, chan …", "category:gc.mark.assist:+1pp", "the category's id"),
    RuleForm("total", "total:LIMIT", "all of the profile", "total:+5%"),
    RuleForm("bench", "bench:UNIT[:REGEX]:LIMIT", "a benchmark's median in a unit", "bench:allocs/op:+0%", "the unit", less=True, source=False),
    RuleForm("pause", "pause:p50|p90|p99|p99.9|max:LIMIT", "GC pauses, from a GC log or trace", "pause:p99:+10%", "the percentile", ceiling=True),
    RuleForm("finding", "finding:major|minor", "a finding that is worse, as severe or more", "finding:major", "the severity", limited=False, source=False),
)
# fmt: on

# Flags that shape pprof's own tables and say nothing to the report; without inlined
# functions, most of what the runtime does could not be told apart.
PPROF_ONLY = frozenset(
    (
        *("nodecount", "nodefraction", "edgefraction", "trim", "flat", "cum"),
        *("filefunctions", "noinlines", "relative_percentages", "drop_negative"),
        *("mean", "mean_delay", "unit"),
    )
)

# What go tool pprof has and pprofdiff has not: refused with the command to type. The
# first need a value.
REFUSED_WITH_VALUE = frozenset(
    """
    add_comment buildid disasm divide_by http list prune_from source_path
    symbolize tagleaf tagroot tagshow taghide tls_ca tls_cert tls_key tools trim_path
    weblist
    """.split()  # noqa: SIM905 - one word beside the other
)
REFUSED = REFUSED_WITH_VALUE | frozenset(
    """
    addresses call_tree callgrind comments compact_labels dot eog evince
    gif gv intel_syntax kcachegrind no_browser pdf png ps raw showcolumns svg
    tags topproto traces tree web
    """.split()  # noqa: SIM905 - likewise
)


def active(options: Options) -> list[str]:
    """Return what chooses among samples and frames, as it would be typed."""
    chosen = (
        *(flag.field for flag in FLAGS if flag.group == _PATTERNS),
        "sample_index",
    )
    return [
        f"-{field}={getattr(options, field)}"
        for field in chosen
        if getattr(options, field)
    ]
