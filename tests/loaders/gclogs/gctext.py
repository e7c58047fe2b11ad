"""gctrace lines for hypothesis, as Go prints them, and a slow reader of whole lines."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import partial
from pathlib import Path

from hypothesis import strategies as st

from pprofdiff.loaders.gclogs import GCScanner
from pprofdiff.model.gclogs import Cycles
from tests.loaders.feeding import fed

DATA = Path(__file__).parents[2] / "data"
CAPTURES = sorted(
    found
    for folders in ("*/base", "*/new", "versions/*", "sync-pool-gctrace")
    for found in DATA.glob(f"{folders}/*.log")
)
COLUMNS = Cycles.__struct_fields__

_I, _T = r"\d{1,12}", r"\d{1,12}(?:\.\d{1,3})?"
_LINE = re.compile(
    rf"gc (?P<number>{_I}) @(?P<start>{_I}\.\d\d\d)s (?P<percent>{_I})%"
    r"(?: \(checking for goroutine leaks\))?: "
    rf"(?P<clock>{_T}\+{_T}\+{_T}(?:\+{_T}\+{_T})?) ms clock, "
    rf"(?P<cpu>{_T}\+(?:{_T}\+{_T}\+)?{_T}/{_T}/{_T}\+{_T}) ms cpu, "
    rf"(?P<h0>{_I})->(?P<h1>{_I})->(?P<h2>{_I}) MB, (?P<goal>{_I}) MB goal, "
    rf"(?:(?P<stacks>{_I}) MB stacks, (?P<globals>{_I}) MB globals, )?"
    rf"(?P<procs>{_I}) P(?P<forced> \(forced\))?"
)


def _thousandths(text):
    value = Decimal(text) * 1000
    assert value == int(value)
    return int(value)


def read(match):
    """Return a whole line as a dict of `Cycles`' fields."""
    clock = [_thousandths(t) for t in match["clock"].split("+")]
    cpu = [_thousandths(t) for t in re.split(r"[+/]", match["cpu"])]
    if len(clock) == 5:  # Go 1.5
        sweep, scan, install, mark, end = clock
        clock = [sweep, scan + mark, install + end]
        sweep, scan, install, assist, background, idle, end = cpu
        cpu = [sweep, assist, scan + background, idle, install + end]
    integers = ("percent", "goal", "procs", "h0", "h1", "h2", "number")
    said = {name: int(match[name]) for name in integers}
    return {
        "number": said["number"],
        "start_ms": _thousandths(match["start"]),
        "percent": said["percent"],
        "sweep_termination_wall_us": clock[0],
        "mark_wall_us": clock[1],
        "mark_termination_wall_us": clock[2],
        "sweep_termination_cpu_us": cpu[0],
        "assist_cpu_us": cpu[1],
        "background_cpu_us": cpu[2],
        "idle_cpu_us": cpu[3],
        "mark_termination_cpu_us": cpu[4],
        "heap_start_mb": said["h0"],
        "heap_end_mb": said["h1"],
        "heap_live_mb": said["h2"],
        "goal_mb": said["goal"],
        "stacks_mb": match["stacks"] and int(match["stacks"]),
        "globals_mb": match["globals"] and int(match["globals"]),
        "procs": said["procs"],
        "forced": match["forced"] is not None,
        "timer": False,
        "repaired": False,
    }


def reference(text):
    """Return the whole lines in a text, in order: dicts of `Cycles`' fields."""
    plain = text.decode("latin-1").replace("\\u003e", ">").replace("&gt;", ">")
    lines = [m for m in _LINE.finditer(plain) if _one_grammar(m)]
    return [read(m) for m in lines]


def _one_grammar(match):
    return (match["clock"].count("+") == 4) == (match["cpu"].count("+") == 4)


def rows(cycles):
    """Return collections as dicts of `Cycles`' fields."""
    columns = {name: getattr(cycles, name) for name in COLUMNS}
    held = {
        n: [None] * len(cycles) if c is None else c.tolist() for n, c in columns.items()
    }
    return [
        dict(zip(COLUMNS, row, strict=True)) for row in zip(*held.values(), strict=True)
    ]


scanned = partial(fed, GCScanner)


def said(log):
    """Return all that a log says, in a form that compares."""
    if log is None:
        return None
    runs = [(rows(r.cycles), r.torn, r.repeated, r.swapped) for r in log.runs]
    return runs, log.mixed


def milliseconds(nanoseconds):
    """Return a time as runtime.fmtNSAsMS prints it."""
    if nanoseconds >= 10_000_000:
        return str(nanoseconds // 1_000_000)
    value, decimals = nanoseconds // 1000, 3
    if not value:
        return "0"
    while value >= 100:
        value, decimals = value // 10, decimals - 1
    digits = str(value).rjust(decimals + 1, "0")
    return f"{digits[:-decimals]}.{digits[-decimals:]}" if decimals else digits


times = st.one_of(
    st.integers(0, 999), st.integers(0, 10**8), st.integers(0, 10**15)
)  # ns
sizes = st.integers(0, 9) | st.integers(0, 10**9)
GRAMMARS = ("go1.5", "go1.6", "go1.18", "go1.26")


def arguments(draw, grammar, number, start_ms, procs):
    """Draw a line, as the arguments that the runtime prints one by one."""
    stops = [draw(times) for _ in range(2)]
    work = [draw(times) for _ in range(4)]
    size = [str(draw(sizes)) for _ in range(6)]
    ms = [milliseconds(t) for t in stops + work]
    held = [milliseconds(t * procs) for t in stops]
    start = f"{start_ms // 1000}.{start_ms % 1000:03d}"
    line = ["gc ", str(number), " @", start, "s ", str(draw(st.integers(0, 99))), "%"]
    if grammar == "go1.26" and draw(st.booleans()):
        line += [" (checking for goroutine leaks)"]
    line += [": ", ms[0], "+", ms[2], "+", ms[1]]
    if grammar == "go1.5":
        line += ["+", ms[3], "+", ms[1]]
    line += [" ms clock, ", held[0], "+"]
    if grammar == "go1.5":
        line += [ms[2], "+", held[1], "+"]
    line += [ms[3], "/", ms[4], "/", ms[5], "+", held[1], " ms cpu, ", size[0], "->"]
    line += [size[1], "->", size[2], " MB, ", size[3], " MB goal, "]
    if grammar in ("go1.18", "go1.26"):
        line += [size[4], " MB stacks, ", size[5], " MB globals, "]
    line += [str(procs), " P"]
    return [*line, " (forced)"] if draw(st.booleans()) else line


@st.composite
def printed(draw, grammar):
    """Draw one process's lines, each as its arguments."""
    number, start = draw(st.integers(1, 10**6)), draw(st.integers(0, 10**8))
    procs = draw(st.integers(1, 256))
    lines = []
    for _ in range(draw(st.integers(1, 8))):
        lines.append(arguments(draw, grammar, number, start, procs))
        number, start = (
            number + draw(st.sampled_from((1, 1, 1, 3))),
            start + draw(st.integers(0, 10**5)),
        )
    return lines
