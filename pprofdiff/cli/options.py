"""The user's choices as one frozen `Options`, and the table that describes them.

Flags are named as in ``go tool pprof``. `FLAGS` feeds the command line, ``--help`` and
the report's header. The library never sees `Options`: `run` translates them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    from pprofdiff.analysis.profiles.filters import Filters


class Options(NamedTuple):
    """The options of one run, with the command line's defaults.

    A named tuple, since `dataclasses` would double the time of ``--help``. Patterns are
    regular expressions, empty for none. `work` is (base, new) operations, `rps`
    operations per second. `window` holds (from, to) in seconds since the process
    started, once or per side. `pair` is the suffix of base's benchmarks; `pair_names`
    are (base, new) names of functions that are the same. `source` are the two folders
    of ``--source``, `git` the two refs of ``--git``. `seconds` and `timeout` apply to a
    fetch. `fail_on` holds rules as typed, `fail_on_of` where they come from.
    `same_within` is a fraction of base and `max_skipped` a fraction of a fleet's
    objects, None if not typed. `by` names the hosts of a fleet, `group_by` groups
    samples, `scheduler` is a cluster's address. `over` names the steps of a series,
    whose inputs are all in `new`; `every` is a window's width in seconds.
    """

    base: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    subtract: str = "diff_base"  # or "base"
    view: str = "report"  # or top, peek, list, proto, waits
    peek: str = ""
    listed: str = ""
    explain: str = ""
    source: str = ""
    git: str = ""
    repo: str = ""
    no_source: bool = False
    normalize: bool = False
    work: tuple[float, float] | None = None
    rps: tuple[float, float] | None = None
    window: tuple[tuple[float | None, float | None], ...] = ()
    pair: str = ""
    pair_names: tuple[tuple[str, str], ...] = ()
    no_pairing: bool = False
    same_within: float | None = None
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
    full: bool = False
    joined: bool = False
    seconds: int | None = None
    timeout: float | None = None
    max_size: int = 1 << 30
    color: str = "auto"
    progress: bool = True
    quiet: bool = False
    no_paths: bool = False
    within: str = ""  # a folder that the names of inputs leave out
    page_url: str = ""
    github_summary: bool = False
    fail_on: tuple[str, ...] = ()
    fail_on_of: str = "--fail-on"
    strict: bool = False
    only_if_changed: bool = False
    by: str = ""
    group_by: str = ""
    scheduler: str = ""
    max_skipped: float | None = None
    over: str = ""
    every: float | None = None

    @property
    def patterns(self) -> bool:
        """Whether any pattern selects samples or frames."""
        return any(getattr(self, field) for field in _PATTERN_FIELDS)

    @property
    def judged(self) -> bool:
        """Whether the view shows the report's verdict."""
        return not (self.explain or self.listed or self.view == "waits")

    @property
    def filters(self) -> Filters:
        """The patterns that select samples and frames."""
        from pprofdiff.analysis.profiles.filters import Filters

        return Filters(**{field: getattr(self, field) for field in _PATTERN_FIELDS})


class Flag(Struct, frozen=True):
    """One flag: how it is typed, what it sets, and what it means.

    `group` is its heading in ``--help``; `name` has ``_`` between words. `kind` says
    how a value is parsed, see `flag_values`: ``set`` stores `value` and takes none,
    ``bool`` can be turned off with ``=false``, ``append`` may be repeated, ``choice``
    takes one of the words in `value`. `field` is the name in `Options`. `placeholder`
    stands for its value in ``--help``. `ours` are flags that ``go tool pprof`` lacks.
    `views` are those it applies to; ``pprof`` means ``-top`` and ``-peek``.
    """

    group: str
    name: str
    kind: str
    field: str
    placeholder: str
    help: str
    value: str = ""
    short: str = ""
    ours: bool = False
    views: Literal["all", "pprof", "report"] = "all"


_PATTERNS = "Choose samples and frames (regular expressions, as in go tool pprof)"
_COMPARE = "Compare"
_VIEW = "Views (default: the report)"
_SOURCE = "Source lines"
_ROWS = "Rows"
_VALUE = "Which value"
_OUT = "Output"
_FETCH = "URLs"
_FLEET = "Fleets: many profiles, s3://…, gs://…, 'DIR/**/*.pb.gz', @LIST (pip install 'pprofdiff[fleet]')"
_GATE = "Gate"

# fmt: off
FLAGS = (
    Flag(_COMPARE, "diff_base", "append", "base", "PROFILE", "profile to subtract; repeat to add up"),
    Flag(_COMPARE, "base", "append", "base", "PROFILE", "the same, as pprof's -base: percentages of the sum of both"),
    Flag(_COMPARE, "normalize", "bool", "normalize", "", "scale new to the base's total"),
    Flag(_COMPARE, "work", "work", "work", "BASE:NEW", "operations each side did, as BASE:NEW; compares per op", ours=True),
    Flag(_COMPARE, "rps", "work", "rps", "BASE:NEW", "operations per second of each side, as BASE:NEW; compares per op", ours=True),
    Flag(_COMPARE, "window", "window", "window", "FROM:TO", "compare GC cycles FROM:TO seconds after the start; for both, or BASE,NEW", ours=True),
    Flag(_COMPARE, "pair", "pair", "pair", "suffix=WORD", "compare the benchmarks XOld and X of one file: suffix=Old", ours=True),
    Flag(_COMPARE, "pair_names", "pairs", "pair_names", "OLD=NEW", "treat two functions as one; a * in each for many; repeatable", ours=True, views="report"),
    Flag(_COMPARE, "no_pairing", "bool", "no_pairing", "", "never pair functions of different names", ours=True, views="report"),
    Flag(_COMPARE, "same_within", "percent", "same_within", "PERCENT", "builds are the same if cost per op differs by less (2%)", ours=True, views="report"),
    Flag(_COMPARE, "drop_negative", "bool", "drop_negative", "", "leave out what decreased", views="pprof"),
    Flag(_VIEW, "top", "set", "view", "", "pprof's table of functions", value="top"),
    Flag(_VIEW, "text", "set", "view", "", "the same as -top", value="top"),
    Flag(_VIEW, "peek", "str", "peek", "REGEX", "callers and callees of the functions that match"),
    Flag(_VIEW, "list", "str", "listed", "REGEX", "source of the functions that match, each line with base, new and delta"),
    Flag(_VIEW, "proto", "set", "view", "", "the diff as a profile, to standard output", value="proto"),
    Flag(_VIEW, "explain", "str", "explain", "REGEX", "the stacks of a function or category, and the rule that classified them", ours=True),
    Flag(_VIEW, "waits", "set", "view", "", "traces: what goroutines wait for, at which line, and what held them up", value="waits", ours=True),
    Flag(_VIEW, "full", "bool", "full", "", "the report with every finding in full and every table", ours=True, views="report"),
    Flag(_VIEW, "joined", "bool", "joined", "", "also list functions whose name differs between the builds", ours=True),
    Flag(_SOURCE, "git", "str", "git", "BASE..NEW", "the commits of both builds: changed lines and who changed them", ours=True),
    Flag(_SOURCE, "repo", "str", "repo", "DIR", "the repository of --git (default: the working directory's)", ours=True),
    Flag(_SOURCE, "source", "str", "source", "BASEDIR:NEWDIR", "folders with the source of both builds", ours=True),
    Flag(_SOURCE, "no_source", "bool", "no_source", "", "leave the listings out of the page", ours=True, views="report"),
    Flag(_ROWS, "flat", "set", "sort", "", "sort by own cost", value="flat", views="pprof"),
    Flag(_ROWS, "cum", "set", "sort", "", "sort by cost including callees", value="cum", views="pprof"),
    Flag(_ROWS, "nodecount", "int", "nodecount", "N", "show at most N rows", views="pprof"),
    Flag(_ROWS, "nodefraction", "float", "nodefraction", "N", "hide rows under this share (0.005)", views="pprof"),
    Flag(_ROWS, "edgefraction", "float", "edgefraction", "N", "hide edges under this share (0.001)", views="pprof"),
    Flag(_ROWS, "trim", "bool", "trim", "", "apply the three limits above (-trim=false: all rows)", views="pprof"),
    Flag(_ROWS, "functions", "set", "granularity", "", "one row per function", value="functions"),
    Flag(_ROWS, "filefunctions", "set", "granularity", "", "one row per function and file", value="filefunctions", views="pprof"),
    Flag(_ROWS, "files", "set", "granularity", "", "one row per file", value="files"),
    Flag(_ROWS, "lines", "set", "granularity", "", "one row per source line", value="lines"),
    Flag(_ROWS, "noinlines", "bool", "noinlines", "", "charge inlined functions to their caller", views="pprof"),
    Flag(_ROWS, "relative_percentages", "bool", "relative_percentages", "", "percent of what the patterns left", views="pprof"),
    Flag(_PATTERNS, "focus", "str", "focus", "REGEX", "only stacks with a matching frame"),
    Flag(_PATTERNS, "ignore", "str", "ignore", "REGEX", "no stacks with a matching frame"),
    Flag(_PATTERNS, "hide", "str", "hide", "REGEX", "drop matching frames"),
    Flag(_PATTERNS, "show", "str", "show", "REGEX", "keep only matching frames"),
    Flag(_PATTERNS, "show_from", "str", "show_from", "REGEX", "drop frames above the first that matches"),
    Flag(_PATTERNS, "tagfocus", "str", "tagfocus", "REGEX", "only samples with a matching label, or number in a range"),
    Flag(_PATTERNS, "tagignore", "str", "tagignore", "REGEX", "no samples with a matching label"),
    Flag(_VALUE, "sample_index", "str", "sample_index", "X", "sample type, by name or position"),
    Flag(_VALUE, "state", "choice", "state", "STATE", "traces by stack: time running, runnable, blocked, syscall; cpu: samples", value="running runnable blocked syscall cpu", ours=True),
    Flag(_VALUE, "inuse_space", "set", "sample_index", "", "-sample_index=inuse_space", value="inuse_space"),
    Flag(_VALUE, "inuse_objects", "set", "sample_index", "", "-sample_index=inuse_objects", value="inuse_objects"),
    Flag(_VALUE, "alloc_space", "set", "sample_index", "", "-sample_index=alloc_space", value="alloc_space"),
    Flag(_VALUE, "alloc_objects", "set", "sample_index", "", "-sample_index=alloc_objects", value="alloc_objects"),
    Flag(_VALUE, "contentions", "set", "sample_index", "", "-sample_index=contentions", value="contentions"),
    Flag(_VALUE, "total_delay", "set", "sample_index", "", "-sample_index=delay", value="delay"),
    Flag(_VALUE, "mean_delay", "set", "mean", "", "-sample_index=delay -mean", value="delay", views="pprof"),
    Flag(_VALUE, "mean", "bool", "mean", "", "value by the first sample type (such as delay by contention)", views="pprof"),
    Flag(_VALUE, "unit", "str", "unit", "X", "unit to print, such as ms or MB (minimum: chosen to fit)", views="pprof"),
    Flag(_OUT, "output", "append", "outputs", "FILE", "write .html .md .json .brief.json .csv .svg .png .pb.gz .perfetto.json", short="o"),
    Flag(_OUT, "color", "choice", "color", "WHEN", "auto, always or never", value="auto always never", ours=True),
    Flag(_OUT, "progress", "bool", "progress", "", "show progress of long work on a terminal", ours=True),
    Flag(_OUT, "quiet", "bool", "quiet", "", "print no report, only write -o files (-q)", short="q", ours=True),
    Flag(_OUT, "no_paths", "bool", "no_paths", "", "leave out local paths and hosts, as go build -trimpath", ours=True),
    Flag(_OUT, "page_url", "str", "page_url", "URL", "the address where -o x.html will be published; -o x.md links to it", ours=True, views="report"),
    Flag(_OUT, "github_summary", "bool", "github_summary", "", "add -o x.md's text to this GitHub step's summary, annotate what tripped", ours=True, views="report"),
    Flag(_GATE, "fail_on", "append", "fail_on", "RULE", "exit with 1 if a rule trips; see below; may be repeated", ours=True, views="report"),
    Flag(_GATE, "strict", "bool", "strict", "", "rules also trip when undecided, or without data", ours=True, views="report"),
    Flag(_GATE, "only_if_changed", "bool", "only_if_changed", "", "print and write nothing if all changes are within noise and no rule trips", ours=True, views="report"),
    Flag(_FETCH, "seconds", "int", "seconds", "N", "length of a live profile"),
    Flag(_FETCH, "timeout", "float", "timeout", "N", "give up a fetch after N seconds"),
    Flag(_FETCH, "max_size", "size", "max_size", "SIZE", "largest input after decompression; larger ones are refused (1GB)", ours=True),
    Flag(_FLEET, "by", "str", "by", "HOST", "label of endpoints or of a fleet's hosts, or a pattern in paths: HOST=…", ours=True),
    Flag(_FLEET, "group_by", "str", "group_by", "PART", "also list changed functions by region, version or endpoint; as --by", ours=True, views="report"),
    Flag(_FLEET, "over", "str", "over", "STEP", "compare more than two: time, or the label of builds; see below", ours=True, views="report"),
    Flag(_FLEET, "every", "duration", "every", "WIDTH", "width of a window of --over time, such as 15m (at most 48 windows)", ours=True, views="report"),
    Flag(_FLEET, "scheduler", "str", "scheduler", "ADDRESS", "read on this Dask cluster, such as tcp://10.0.0.1:8786", ours=True),
    Flag(_FLEET, "max_skipped", "percent or 0", "max_skipped", "PERCENT", "largest share of objects that may be damaged or missing (1%)", ours=True),
)

MEASURE_FLAGS = (
    Flag("Measure", "rounds", "int", "rounds", "N", "at most N runs per side (10); fewer once the verdict is sure"),
    Flag("Measure", "time", "duration", "time", "T", "start no round that would end after T (1m; up to 5m for many benchmarks)"),
    Flag("Measure", "per_run", "duration", "per_run", "T", "length of one profiled run of a side, shared by all benchmarks (1s)"),
    Flag("Measure", "quick", "bool", "quick", "", "three short rounds, in about 15s: finds large changes only"),
    Flag("Measure", "trace", "bool", "trace", "", "one more run of each side with an execution trace, to DIR/trace"),
    Flag("Measure", "cmd", "str", "cmd", "COMMAND", "run a program, not benchmarks; it writes to $PPROFDIFF_OUT"),
    Flag("Measure", "url", "str", "url", "URL", "the address of the program's /debug/pprof, if it is a server"),
    Flag("Measure", "load", "str", "load", "COMMAND", "the command that sends requests to the server, such as hey -z 5s URL"),
    Flag("Measure", "o_runs", "str", "o_runs", "DIR", "keep the captures: DIR/base/1, DIR/new/1, …, DIR/measure.json"),
)
"""Flags of ``pprofdiff measure`` in addition to the report's, with their own fields."""

BISECT_FLAGS = (
    Flag("Bisect", "faster", "bool", "faster", "", "find the commit that made them faster"),
    Flag("Bisect", "first_parent", "bool", "first_parent", "", "only commits on BAD's branch: a merge is one commit, as git log --first-parent"),
    Flag("Bisect", "state", "str", "state", "DIR", "keep builds and runs in DIR; the same command continues where it stopped"),
    Flag("Bisect", "rounds", "int", "rounds", "N", "measure a commit at most N times (20)"),
    Flag("Bisect", "time", "duration", "time", "T", "search no longer than T, then report what is known"),
    Flag("Bisect", "per_run", "duration", "per_run", "T", "length of one profiled run of a side, shared by all benchmarks (1s)"),
)
"""Flags of ``pprofdiff bisect`` in addition to the report's."""
# fmt: on


_PATTERN_FIELDS = tuple(flag.field for flag in FLAGS if flag.group == _PATTERNS)

# Without inlined functions, most runtime work could not be classified, so flags that
# shape pprof's own tables do not affect the report.
PPROF_ONLY = frozenset(flag.name for flag in FLAGS if flag.views == "pprof")

# Flags of go tool pprof that pprofdiff lacks: refused with the command to type. The
# first set needs a value.
REFUSED_WITH_VALUE = frozenset(
    """
    add_comment buildid disasm divide_by http prune_from source_path
    symbolize tagleaf tagroot tagshow taghide tls_ca tls_cert tls_key tools trim_path
    weblist
    """.split()  # noqa: SIM905 - more compact
)
REFUSED = REFUSED_WITH_VALUE | frozenset(
    """
    addresses call_tree callgrind comments compact_labels dot eog evince
    gif gv intel_syntax kcachegrind no_browser pdf png ps raw showcolumns svg
    tags topproto traces tree web
    """.split()  # noqa: SIM905 - likewise
)


def active(options: Options) -> list[str]:
    """Return the flags that select samples and frames, as typed."""
    return [
        f"-{field}={getattr(options, field)}"
        for field in (*_PATTERN_FIELDS, "sample_index")
        if getattr(options, field)
    ]
