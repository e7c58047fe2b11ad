"""Recognise the kind of an input, supported or foreign, from its first bytes."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from pprofdiff.errors import FormatError
from pprofdiff.kinds import KINDS, KindId, resolve
from pprofdiff.units import printable

_COUNTED = (
    "pass how many operations each side did: --work BASE:NEW, or --rps BASE:NEW per "
    "second"
)
_VARINT: Final = 0
_FIXED64: Final = 1
_BYTES: Final = 2
_FIXED32: Final = 5

_SAMPLE_TYPE: Final = 1
_STRING_TABLE: Final = 6
_PERIOD_TYPE: Final = 11

# profile.proto, message Profile. Repeated numbers may be packed (comment, 13).
_WIRE_TYPES: Final = {
    **dict.fromkeys((_SAMPLE_TYPE, 2, 3, 4, 5, _STRING_TABLE, _PERIOD_TYPE), (_BYTES,)),
    **dict.fromkeys((7, 8, 9, 10, 12, 14, 15), (_VARINT,)),
    13: (_VARINT, _BYTES),
}
_LATER_FIELD: Final = (_VARINT, _FIXED64, _BYTES, _FIXED32)

_WALKED = 4096


class Foreign(StrEnum):
    """Kinds of input that are not supported: what each is, and what to do."""

    EMPTY = "empty; nothing was written to it"
    UNKNOWN = "unknown"
    LEGACY_PROFILE_TEXT = (
        "text profile written with debug=1; fetch it again without ?debug=1"
    )
    GOROUTINE_DUMP = (
        "goroutine dump written with debug=2; fetch it again without ?debug=2"
    )
    GPERFTOOLS = (
        "gperftools CPU profile, which has addresses but no names; "
        "convert it with google-pprof --collapsed PROGRAM PROFILE"
    )
    GPERFTOOLS_HEAP = (
        "gperftools heap profile, which has addresses but no names; "
        "convert it with google-pprof --collapsed PROGRAM PROFILE"
    )
    VMPROF = "profile of vmprof; give what vmprof-flamegraph.py prints"
    PPROF_REPORT = "report printed by go tool pprof; give the profile it was made from"
    BENCHSTAT = (
        "table of benchstat; give the outputs of go test -bench that it was made from"
    )
    TRACE_TEXT = "events printed by go tool trace -d; give the trace itself"
    SCHEDTRACE = (
        "log of GODEBUG=schedtrace; give an execution trace, as "
        "/debug/pprof/trace?seconds=5 writes it"
    )
    METRICS = (
        "metrics, not a profile; /debug/pprof/profile?seconds=30 writes a CPU profile"
    )
    COVERAGE = "coverage profile; go test -cpuprofile writes a CPU profile"
    HEAP_DUMP = (
        "heap dump of runtime/debug.WriteHeapDump; "
        "fetch a heap profile from /debug/pprof/heap"
    )
    PROGRAM = "program, not a profile; give the profile taken from it"
    PERF_DATA = (
        "output of perf record; fold it with perf script | stackcollapse-perf.pl"
    )
    PERF_SCRIPT = "output of perf script; fold it with stackcollapse-perf.pl"
    JAVA = (
        "heap dump or flight recording of Java; give async-profiler's collapsed stacks"
    )
    THREAD_DUMP = (
        "thread dumps of the JVM; fold them with stackcollapse-jstack.pl, or give "
        "async-profiler's collapsed stacks"
    )
    STACKPROF = "dump of stackprof; give what stackprof --stackcollapse prints"
    CALLGRIND = (
        "profile in Callgrind's format, which has no stacks; give folded stacks, such "
        "as perf's"
    )
    REPORT = "report of gprof, which has no stacks; give folded stacks, such as perf's"
    GHC = (
        "report of GHC's profiler; give what ghc-prof-aeson-flamegraph makes of the "
        "JSON that +RTS -pj writes"
    )
    CPROFILE = (
        "profile of Python's cProfile or yappi, which has no stacks; give what py-spy "
        "record -f raw writes"
    )
    PYTHON_TEXT = (
        "report of pyinstrument or scalene, printed; give what py-spy record -f raw "
        "writes"
    )
    RBSPY = "summary of rbspy; give what rbspy record --format pprof writes"
    AUSTIN = "binary file of austin; convert it with mojo2austin"
    V8_LOG = (
        "log of node --prof, or what --prof-process prints of it; "
        "write pprof with the pprof package of npm"
    )
    HYPERFINE = "results of hyperfine, which are not read"
    NYTPROF = (
        "profile of Perl's Devel::NYTProf; profile with calls=2 and give what "
        "nytprofcalls prints"
    )
    LUAJIT = "report of LuaJIT's profiler; -jp=G writes folded stacks"
    JEMALLOC = "heap profile of jemalloc; give what jeprof --collapsed prints"
    VALGRIND = "output of valgrind's massif or dhat, which is not read"
    RPROF_SUMMARY = "summary of R's Rprof; write pprof with proffer::to_pprof"
    LOCUST = "log or table of locust; give the _stats.csv that locust --csv writes"
    VEGETA = "results of vegeta, one per line; give what vegeta report prints"
    LATENCIES = "distribution of latencies; give the load generator's summary"
    RPROF = "profile of R's Rprof; write it as pprof with proffer::to_pprof"
    LOAD = (
        "results of artillery, drill, JMeter or redis-benchmark, which are "
        f"not read; {_COUNTED}"
    )
    FLAME_GRAPH = (
        "drawing, such as a flame graph; give the profile or the folded stacks that it "
        "was made from"
    )
    NETTRACE = "trace of .NET, which is not read; give folded stacks, such as perf's"
    LZ4 = (
        "compressed with lz4; unpack it first, unless memray wrote it: that is not read"
    )
    HTML = (
        "web page, not a profile; "
        "profiles are at addresses such as host:6060/debug/pprof/heap"
    )
    JSON = "JSON"
    GO_TEST_JSON = "output of go test -json; give the output without -json"
    ARCHIVE = "archive; unpack it and give the folder"
    COMPRESSED = "compressed twice, or with xz or bzip2; unpack it first"
    UTF16_TEXT = "UTF-16 text, as PowerShell's > writes; save it as UTF-8"


# Each pattern must match at the first byte.
_BINARY = (
    (Foreign.HEAP_DUMP, rb"go1\.\d{1,2} heap dump\n"),
    (Foreign.PERF_DATA, rb"PERFILE2|2ELIFREP"),
    (Foreign.JAVA, rb"JAVA PROFILE 1\.|FLR\0"),
    # marshal: a dict whose first key is a tuple of three.
    (Foreign.CPROFILE, rb"[\x7b\xfb][\x29\xa9]\x03"),
    # pickle: the class of yappi's statistics.
    (Foreign.CPROFILE, rb"\x80[\x02-\x05][^\n]{1,15}yappi"),
    (Foreign.AUSTIN, rb"MOJ[\x00-\x1f]"),
    (Foreign.STACKPROF, rb"\x04\x08\{.:\x0cversion"),
    (
        Foreign.PROGRAM,
        (
            rb"\x7fELF|MZ[^\n]*\0|!<arch>\n"
            rb"|\xfe\xed\xfa[\xce\xcf]|[\xce\xcf]\xfa\xed\xfe|\xca\xfe\xba\xbe"
        ),
    ),
    (Foreign.ARCHIVE, rb"PK\x03\x04|(?s:.{257})ustar"),
    (Foreign.COMPRESSED, rb"\x1f\x8b|\x28\xb5\x2f\xfd|\xfd7zXZ\0|BZh[1-9]"),
    (Foreign.LZ4, rb"\x04\x22\x4d\x18"),
    (Foreign.NETTRACE, rb"Nettrace"),
    # A header as gperftools has it, the marker of a header, and who was profiled.
    (Foreign.VMPROF, rb"(?s)(?:.{20}|.{40})\x05.{3,6}(?:cpython|pypy)"),
    (Foreign.UTF16_TEXT, rb"\xff\xfe|\xfe\xff"),
)

# Each pattern must match at the first byte that is not white space.
_TEXT = (
    (Foreign.LEGACY_PROFILE_TEXT, rb"heap profile: [^\n@]*@ heap/\d"),
    (Foreign.GPERFTOOLS_HEAP, rb"heap profile: "),
    (
        Foreign.LEGACY_PROFILE_TEXT,
        rb"\S+ profile: total \d|--- [^\n]+:\r?\ncycles/second",
    ),
    (Foreign.GOROUTINE_DUMP, rb"goroutine \d+ [^\n\[]*\[[^\n\]]*\]:"),
    (
        Foreign.PPROF_REPORT,
        (
            rb"(?:File|Main binary filename|Build ID|Type|Time|Duration|PeriodType): "
            rb"|Showing nodes accounting for |digraph |positions: instr"
            rb"|Total: [\d.]+\w*\r?\nROUTINE =|flat +flat%"
        ),
    ),
    (
        Foreign.BENCHSTAT,
        (
            rb"(?:\w+: [^\n]*\n)*(?:\s*\xe2\x94\x82 |,[^\n]*\n,\w+/op,CI)"
            rb"|name +(?:old|new) |name(?: \\ |  +)\S+/op"
        ),
    ),
    (Foreign.THREAD_DUMP, rb"[\d: -]{19}\r?\nFull thread dump "),
    (Foreign.TRACE_TEXT, rb"M=-?\d+ P=-?\d+ G="),
    (Foreign.SCHEDTRACE, rb"SCHED \d+ms: "),
    (Foreign.METRICS, rb"# (?:HELP|TYPE) \w+ "),
    # comm, thread, time, period and event of a sample: perf-script(1).
    (
        Foreign.PERF_SCRIPT,
        rb"\S[^\n]{0,40}?\s\d+(?:/\d+)?\s+(?:\[\d+\]\s+)?\d+\.\d+:\s+(?:\d+\s+)?[\w-]+:",
    ),
    (Foreign.CALLGRIND, rb"# callgrind format|version: \d+\r?\ncreator: "),
    (Foreign.REPORT, rb"Flat profile:\s+Each sample counts as "),
    (Foreign.GHC, rb"[^\n]{5,60} Time and Allocation Prof"),
    (Foreign.NYTPROF, rb"NYTProf \d"),
    (Foreign.LUAJIT, rb"(?:\[[^\n]*\n+)?\d{1,3}%  \S[^\n]*\n  (?:<-|->|--)"),
    (
        Foreign.JEMALLOC,
        rb"heap_v\d/\d|--- symbol\nbinary=|Total: [\d.]+ [KMG]?B\n +[\d.]+ +[\d.]+%",
    ),
    (Foreign.VALGRIND, rb"desc: [^\n]*\ncmd: [^\n]*\ntime_unit: "),
    (Foreign.RPROF_SUMMARY, rb"\$by\.self\s"),
    (Foreign.CPROFILE, rb"Clock type: \w+\s+Ordered by: \w+"),
    (
        Foreign.PYTHON_TEXT,
        (
            rb"_     \._   __/__|Program: [^\n]+\n\s*_     \._"
            rb"|(?:Memory usage: [^\n]*\n\s*)?\S[^\n]*: % of time = +[\d.]+%"
        ),
    ),
    (Foreign.RBSPY, rb"% self +% total +name\s"),
    (
        Foreign.LOCUST,
        (
            rb"\[[\d :,-]+\] [^\n]{1,300}/[A-Z]+/locust\.|Type +Name +# reqs +# fails"
            rb"|Timestamp,User Count,Type,|Method,Name,Error,Occurrences"
            rb"|Count,Message,Traceback,Nodes"
        ),
    ),
    # Time, status, latency, bytes, error, body, attack, number, method: encode.go.
    (
        Foreign.VEGETA,
        (
            rb'\d{16,19},\d{1,3},\d+,\d+,\d+,(?:"(?:[^"]|"")*"|[^,\n]*)'
            rb",[\w+/=]*,[^,\n]*,\d+,[A-Z]+,"
        ),
    ),
    (Foreign.LATENCIES, rb"Bucket +# +%|Value\(\w+\) +Percentile +TotalCount"),
    (Foreign.RPROF, rb"(?:(?:memory|GC|line) profiling: )*sample\.interval=\d"),
    (Foreign.V8_LOG, rb"v8-version,\d|Statistical profiling result from "),
    (Foreign.HYPERFINE, rb"command,mean,stddev,|\| Command \| Mean \["),
    (Foreign.COVERAGE, rb"mode: (?:set|count|atomic)\b"),
    (
        Foreign.LOAD,
        (
            rb'timeStamp,elapsed,label|"test","rps"|====== \w+ ======'
            rb"|Concurrency \d+\r?\nIterations|Test run id: "
        ),
    ),
    (
        Foreign.FLAME_GRAPH,
        rb"(?s)(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)?<(?:!DOCTYPE )?svg",
    ),
    (
        Foreign.FLAME_GRAPH,
        rb"(?si)<(?:!doctype )?html.*(?:async-profiler|flame ?graph)",
    ),
    (Foreign.HTML, rb"(?i:<!doctype html|<html|<\?xml|<svg|<head|<body)"),
    (Foreign.GO_TEST_JSON, rb'\{"(?:Time|Action|ImportPath)":"'),
    (Foreign.JSON, rb"\{\s*[\"}]|\[\s*[\[{\"\]\d]"),
)

# What else writes JSON, by what its first 64 KiB hold.
_WRITERS = (
    (
        rb'"schema": ?"pprofdiff/',
        "a report of pprofdiff; give the inputs it is made of",
    ),
    (
        rb'"traceEvents"',
        "a trace in Chrome's format; give the one that the Go runtime wrote",
    ),
    (
        rb"speedscope\.app",
        "a profile for speedscope; give pprof or folded stacks (py-spy record -f raw)",
    ),
    (
        rb'"(?:nodes|head)":.{0,5000}"callFrame"',
        "a .cpuprofile or .heapprofile; write pprof with the pprof package of npm",
    ),
    (
        rb'"alloc_samples":.{0,50000}"(?:combined_stacks|elapsed_time_sec)"',
        "a profile of scalene; give what py-spy record -f raw writes",
    ),
    (rb'"dhatFileVersion"', "output of valgrind's dhat, which is not read"),
    (rb'"rts_arguments"', "a profile of GHC; fold it with ghc-prof-aeson-flamegraph"),
    (
        rb'"aggregate":.{0,2000}"counters"',
        f"results of artillery, not read; {_COUNTED}",
    ),
    (
        rb'\{"(?:type|metric)":"[^"]+","(?:data|type)":',
        "k6's points, one per line; give the summary, as --summary-export writes it",
    ),
    (
        rb'\{"attack":"[^"]*","seq":',
        "vegeta's results, one per line; give what vegeta report prints",
    ),
    (
        rb'\{"version":[\d.]+,"mode":"\w+","interval":',
        "a profile of stackprof; give what stackprof --stackcollapse prints",
    ),
    (
        rb'"start_time":.{0,200}"sample_count":.{0,5000}"root_frame"',
        "a session of pyinstrument; give what py-spy record -f raw writes",
    ),
    (
        rb'"memstats": ?\{',
        "variables of expvar; /debug/pprof/profile?seconds=30 writes a CPU profile",
    ),
    (rb'"num_none_requests"', "locust's; give the _stats.csv that locust --csv writes"),
    (rb'"jmhVersion"', "results of JMH, which are not read"),
    (rb'"library_(?:build_type|version)"', "results of Google Benchmark, not read"),
    (rb'"command":.{0,5000}"times"', "results of hyperfine, which are not read"),
)
_KEY = rb'"((?:[^"\\]|\\.){1,60})"\s*:'
_KEYS = 3


def _json(start: bytes) -> str:
    for pattern, words in _WRITERS:
        if re.search(pattern, start, re.DOTALL):
            return f"JSON: {words}"
    keys = dict.fromkeys(key[1] for key in re.finditer(_KEY, start))
    named = b", ".join([*keys][:_KEYS]).decode("utf-8", "backslashreplace")
    return (
        f"JSON{f' with the keys {printable(named)}' if named else ''}: neither a "
        "profile nor a load generator's summary that is read here (vegeta, k6, "
        "bombardier, autocannon, oha, ghz, fortio, siege)"
    )


def refusal(kind: KindId | Foreign, name: str, start: bytes) -> FormatError:
    """Return the error that says what an unreadable input is and what to do."""
    if kind is Foreign.JSON:
        reason = _json(start)
    elif isinstance(kind, Foreign) and kind is not Foreign.UNKNOWN:
        reason = kind.value
    else:
        line = start[:24].partition(b"\n")[0].rstrip(b"\r") or start[:24]
        begins = printable(line.decode("utf-8", "backslashreplace"))
        reason = (
            "neither a profile, an execution trace, a gctrace log nor benchmark or "
            f"load generator output; it begins with {begins}"
        )
    return FormatError(f"{name}: {reason}")


def binary_kind(start: bytes, *, whole: bool) -> KindId | Foreign | None:
    """Return the kind of an input from its `start` (`whole`: all of it); None: text."""
    for kind in KINDS.values():
        if kind.begins and re.match(kind.begins, start):
            return kind.id
    for foreign, pattern in _BINARY:
        if re.match(pattern, start):
            return foreign
    if _is_gperftools(start):
        return Foreign.GPERFTOOLS
    for kind in KINDS.values():
        if kind.looks and resolve(kind.looks)(start, whole=whole):
            return kind.id
    return None


def looks_like_profile(start: bytes, *, whole: bool) -> bool:
    """Return whether `start` begins (`whole`: is) a profile in one of its encodings."""
    if looks_encoded(start, whole=whole):
        return True
    # Most profiles are profile.proto: they are read without the loaders of texts.
    from pprofdiff.loaders.profiles.encodings import looks_folded

    return looks_folded(start, whole=whole)


def _is_gperftools(start: bytes) -> bool:
    """Return whether `start` has the header words 0, 3, 0 (Java: 1), period, 0.

    See pprof's profile/legacy_profile.go, parseCPU: words of 4 or 8 bytes, any byte
    order.
    """
    for size in (4, 8):
        for order in ("little", "big"):
            zero, three, java, period, end = (
                int.from_bytes(start[i : i + size], order)
                for i in range(0, 5 * size, size)
            )
            if (zero, three, end) == (0, 3, 0) and java < 2 and period:
                return len(start) >= 5 * size
    return False


def text_kind(start: bytes) -> Foreign:
    """Return the foreign kind that a text without logs resembles."""
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    for kind, pattern in _TEXT:
        if re.match(pattern, text):
            return kind
    return Foreign.UNKNOWN


def looks_encoded(start: bytes, *, whole: bool) -> bool:
    """Return whether `start` begins (`whole`: is) an encoded Profile.

    Every top-level field must have its wire type, the value types must parse, and the
    string table must begin with the empty string. A profile shows a sample type or a
    string, unless it is longer than the part examined.
    """
    whole = whole and len(start) <= _WALKED
    start = start[:_WALKED]
    seen: set[int] = set()
    position = 0
    try:
        while position < len(start):
            tag, position = _varint(start, position)
            number, wire = tag >> 3, tag & 7
            if number == 0 or wire not in _WIRE_TYPES.get(number, _LATER_FIELD):
                return False
            after = _after(start, position, wire)
            if not _valid(number, start[position:after], first=number not in seen):
                return False
            seen.add(number)
            position = after
    except IndexError:  # truncated inside a number: what precedes it decides
        pass
    except ValueError:
        return False
    return bool(seen & {_SAMPLE_TYPE, _STRING_TABLE}) or (bool(seen) and not whole)


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """Return a varint and the position after it.

    Raises IndexError if `data` ends first, ValueError beyond ten bytes.
    """
    value = 0
    for shift in range(0, 70, 7):
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    raise ValueError


def _after(data: bytes, position: int, wire: int) -> int:
    if wire == _VARINT:
        return _varint(data, position)[1]
    if wire == _BYTES:
        size, position = _varint(data, position)
        return position + size
    return position + (8 if wire == _FIXED64 else 4)


def _valid(number: int, field: bytes, *, first: bool) -> bool:
    if number in (_SAMPLE_TYPE, _PERIOD_TYPE):
        return _is_value_type(field)
    if number == _STRING_TABLE and first:
        return field == b"\0"
    return True


def _is_value_type(field: bytes) -> bool:
    """Return whether `field` is a length and a ValueType: type = 1, unit = 2."""
    size, position = _varint(field, 0)
    if size > 2 * (1 + 10):
        return False
    while position < len(field):
        if field[position] not in (1 << 3 | _VARINT, 2 << 3 | _VARINT):
            return False
        _, position = _varint(field, position + 1)
    return True
