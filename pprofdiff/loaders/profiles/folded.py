"""Decode folded stacks, lines of ``frame;frame;frame COUNT``, into `Profile`.

Written by ``py-spy record -f raw``, ``perf script`` through ``stackcollapse-perf.pl``,
and async-profiler's ``collapsed`` output; the format is defined by
https://github.com/brendangregg/FlameGraph. It has no unit: counts are samples, or else
weights (bytes, ticks, microseconds), which name causes and give no outcome. Lines are
found and counts read in numpy columns, frames are split by one call; Python loops run
over distinct frames only.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import NoReturn

import numpy as np

from pprofdiff.errors import DamagedError
from pprofdiff.loaders.profiles.mangled import readable
from pprofdiff.model.arrays import Codes, Column, Index
from pprofdiff.model.csr import Offsets, distinct, expand, first_in_row, offsets_of
from pprofdiff.model.numbering import numbered
from pprofdiff.model.profiles.profile import (
    Functions,
    Labels,
    Locations,
    Profile,
    ValueType,
)
from pprofdiff.units import clipped, printable

_BOM = b"\xef\xbb\xbf"
_DIGITS = 19
# Of a count: what else a converter's floats have is rounding.
_DECIMALS = 9
# A million samples are 17 minutes of a CPU at 1 kHz, and some stacks are then rare.
_NO_SAMPLES = 1_000_000
_SECOND_COUNT = re.compile(rb"[^;\s][ \t]+\d+(?:\.\d*)?$")
# What a process or thread begins with: the frame above it is the process's name, which
# stackcollapse-perf.pl and ``perf script report stackcollapse`` write first.
_ENTRY = re.compile(
    rb"\[unknown\]|_start|_dl_start.*|_*libc_start.*|start_thread|_*clone3?|"
    rb"entry_SYSCALL.*|runtime\.(?:goexit|mstart|mcall|rt0_go|morestack)\b.*"
)
# Where Linux enters its kernel, on x86 and ARM.
_INTO_KERNEL = re.compile(
    rb"(?:entry_SYSCALL.*|do_syscall_64|asm_(?:exc|sysvec|common)_.+|el0t?_.+"
    rb"|ret_from_fork.*)(?:_\[k\])?"
)
# A root that is no function: nothing, or the address of a chunk (LuaJIT's jit.p).
_NO_ROOT = re.compile(rb"(?:@0x[0-9a-f]+)?")
# What is not part of a name: an address and inlining (google-pprof), how a frame ran
# (``_[j]``: stackcollapse-perf.pl, async-profiler), a function's number in a database
# (plprofiler), and parameters of C++, which ``go tool pprof`` drops too.
_AFTER_NAME = re.compile(
    r"(?:<[0-9a-f]{16}>|\[inline\]|_\[[0-9ijw]\]| oid=\d+"
    r"|(?<=[\w>\])=+*/<-])(?<!operator)"
    r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)(?: const)?)$"
)
# py-spy: ``f (shop/cart.py:12)``, ``f (cart.py)`` with --function; heaptrack_print:
# ``f(int) (cart.cpp)``.
_FRAME_IN_FILE = re.compile(
    r"(.+) \(([^()]+\.(?:py[xi]?|c|cc|cpp|cxx|h|hpp|tcc|rs))(?::(\d{1,9}))?\)"
)
# fil: ``/srv/cart.py:12 (total)``, the line that runs. Where the function begins:
# ``/srv/cart.py:12:total`` (flameprof), ``shop::total:src/cart.rs:12`` (tracing-flame).
_SOURCE = (
    r"((?:[A-Za-z]:)?[^:]*\.(?:py[xi]?|rs|c|cc|cpp|cxx|h|hpp|rb|php|pl|pm|[cm]?[jt]s|lua"
    r"|exs?|erl|java|kt|scala|clj|swift|zig|nim|d|ml|hs|go)|<[\w .]+>|~):(\d{1,9})"
)
_FILE_BEFORE = re.compile(_SOURCE + r"(?: \((.+)\)|:(.+))")
_FILE_AFTER = re.compile(r"(.*?[^:]):" + _SOURCE)
# rbspy: ``score - /srv/feed.rb:11``; ``(unknown) [c function] - (unknown)``.
_RUBY_FRAME = re.compile(
    r"(.+) - (?:(.+\.(?:rb|erb|rake|ru))|\(?unknown\)?)(?::(\d{1,9}))?"
)
# perf script: ``main.sum+0x4c (/srv/shop)``, the offset in the function and the file;
# without a symbol, ``+0x12f4 (/srv/shop)``, the offset in the file. bpftrace:
# ``shop::sum(int)+76``.
_AT_OFFSET = re.compile(
    rb"\+(?:0x[0-9a-f]+|(?<=[\w)\]>]\+)\d+)(?: \((?:[^()]*/)?([^()/]*)\))?$"
)

_OF_PYTHON = (".py", ".pyx", ".pyi")
# V8 with --perf-basic-prof: ``JS:*total /srv/cart.js:3:8``, where the mark is how the
# code was compiled, and the line is the function's.
_SCRIPT_FRAME = re.compile(
    r"(?:JS|LazyCompile|Function|Eval|Script):[*~^+]?(\S*) (\S+):(\d+):(\d+)"
)
# Clojure numbers its classes as it compiles: ``shop$rule$fn__194.invoke``,
# ``shop$eval199.invoke``; an address is the JVM's, ``Shop$$Lambda.0x7f00.run``,
# ``com.shop.Main$$Lambda$1/0x00007f3138003220.run`` (jstack).
_OF_JVM = re.compile(r"[\w/.]+\$[\w$+./]+\.[\w<>]+")
_RUN_NUMBER = re.compile(
    r"(?<=\w)__\d+(?=[$._])|(?<=\$eval)\d+(?=[$.])"
    r"|(?<=\$\$Lambda)(?:\$\d+)?(?:[./+]0x[0-9a-f]+|/\d+)?(?=\.)"
    r"|(?<=Form\$[A-Z]H)[./+]0x[0-9a-f]+(?=\.)|(?<=Form\$DMH)[./+]0x[0-9a-f]+(?=\.)"
)
# The code of a script outside its functions: ``/srv/cart.php`` (Excimer), ``body of
# "/srv/cart.rkt"`` (Racket).
_SCRIPT = re.compile(
    r'(|.* )(?P<quote>"?)(?:[A-Za-z]:)?(?:/[^/"]+)*/'
    r'([^/"]+\.(?:php|pl|py|r|R|rb|rkt|tcl|lua))(?P=quote)'
)
# PHP 8.4 and Excimer: ``{closure:/srv/cart.php(5)}``.
_CLOSURE = re.compile(r"\{closure:(?:[^{}]*/)?([^{}/]+)\}")


def decode(data: bytes, name: str = "folded stacks") -> Profile:
    """Return the profile in these lines: one sample type, ``samples/count``.

    It is ``weight/count`` if the counts cannot be samples: a million or more, and none
    of 1, or some with decimals, which are rounded. Stacks are written root first, by
    fgprof leaf first. Frames of py-spy and rbspy have a file and a line, frames of
    Node.js a file, all others only a name. An empty frame is a frame without a
    function; a line without a stack is a sample without frames. Roots that name no
    function are left out: empty ones, addresses, and the process's name if each stack
    begins with it.

    Raises DamagedError: a line has no count, or a count over 63 bits: one line that
    names the file, the line and the remedy.
    """
    text = np.frombuffer(data.removeprefix(_BOM) + b"\n", np.uint8)
    lines = _Lines(text, name)
    values = lines.counts()
    frames, depths = lines.frames()
    number, (rows,) = numbered(frames)
    names = [_without_offset(frame) for frame in number]
    rows, depths = _from_functions(names, rows, depths)
    offsets = offsets_of(depths)
    backwards = np.repeat(offsets[:-1] + offsets[1:] - 1, depths) - np.arange(len(rows))
    if _leaf_first(names, rows, offsets):
        rows = rows[backwards]
    functions, locations, strings = _tables(_marked(names, rows, offsets))
    return Profile(
        strings=strings,
        sample_types=(ValueType(_counted(values, lines), "count"),),
        functions=functions,
        locations=locations,
        mappings=(),
        stack_offsets=offsets,
        stack_locations=rows[backwards],  # kept leaf first
        values=values[:, None],
        labels=Labels.none(),
    )


def _leaf_first(names: list[bytes], rows: Index, offsets: Offsets) -> bool:
    """Return whether stacks end where Go begins goroutines, as fgprof writes them.

    Most end there, and none begins there; a stack of one frame has no order.
    """
    deep = np.flatnonzero(np.diff(offsets) > 1)
    entry = np.array([name == b"runtime.goexit" for name in names], np.bool_)
    begin, end = entry[rows[offsets[deep]]], entry[rows[offsets[deep + 1] - 1]]
    return not begin.any() and 2 * int(np.count_nonzero(end)) > len(deep)


def _without_offset(frame: bytes) -> bytes:
    """Return a frame without its offset, ``[shop]`` if only the file is left."""
    found = _AT_OFFSET.search(frame)
    if found is None:
        return frame
    return frame[: found.start()] or b"[%s]" % (found[1] or b"unknown")


def _counted(values: Column, lines: _Lines) -> str:
    """Return what counts are: ``samples``, or ``weight`` of an unknown unit.

    Stacks that are closed are heaptrack_print's, of allocations or of bytes.
    """
    many = float(values.sum(dtype=np.float64)) >= _NO_SAMPLES
    many = many and int(values[values > 0].min()) > 1
    return "weight" if many or lines.closed or lines.of_decimals else "samples"


def _from_functions(
    names: list[bytes], rows: Index, depths: Column
) -> tuple[Index, Column]:
    """Return the frames of all stacks (positions in `names`) and depths, less roots.

    These roots are no function: `_NO_ROOT`, and the name of the process.
    """
    begins = (offsets_of(depths)[:-1])[depths > 1]
    empty = np.array([_NO_ROOT.fullmatch(name) is not None for name in names], np.bool_)
    gone = empty[rows[begins]]
    if not gone.any() and len(begins) == np.count_nonzero(depths):
        gone |= _begin_with_process(names, rows, begins)
    kept = np.ones(len(rows), np.bool_)
    kept[begins[gone]] = False
    less = np.zeros(len(depths), np.int64)
    less[np.flatnonzero(depths > 1)[gone]] = 1
    return rows[kept], depths - less


def _begin_with_process(names: list[bytes], rows: Index, begins: Column) -> bool:
    if not len(begins):
        return False
    root = int(rows[begins[0]])
    alone = np.count_nonzero(rows[begins] == root) == np.count_nonzero(rows == root)
    if not alone or (rows[begins] != root).any() or names[root] == b"main":
        return False
    if any(_ENTRY.fullmatch(names[row]) for row in distinct(rows[begins + 1])):
        return True
    # Only perf has the kernel's frames: where stacks are cut short, they show it.
    kernel = any(_INTO_KERNEL.fullmatch(name) for name in names)
    return kernel and _ENTRY.fullmatch(names[root]) is None


def _marked(names: list[bytes], rows: Index, offsets: Offsets) -> list[bytes]:
    """Return the names, the kernel's with ``_[k]``, as stackcollapse-perf.pl has them.

    The kernel's functions are on stacks only from where it was entered.
    """
    entries = np.array([_INTO_KERNEL.fullmatch(name) is not None for name in names])
    if not entries.any():
        return names
    first = np.repeat(first_in_row(entries[rows], offsets), np.diff(offsets))
    inside = (first >= 0) & (np.arange(len(rows)) >= first)
    within, outside = (
        np.bincount(rows[where], minlength=len(names)) for where in (inside, ~inside)
    )
    kernel = (within > 0) & (outside == 0)
    return [
        name + b"_[k]" if marked and not name.endswith(b"_[k]") else name
        for name, marked in zip(names, kernel.tolist(), strict=True)
    ]


class _Lines:
    """The lines that are not blank: where each stack and each count begins and ends."""

    def __init__(self, text: Codes, name: str) -> None:
        self.text = text
        self.name = name
        blank = (text == ord(" ")) | (text == ord("\t")) | (text == ord("\r"))
        self.blanks = np.flatnonzero(blank)
        feeds = np.flatnonzero(text == ord("\n"))
        starts = np.append(0, feeds[:-1] + 1)
        ends = self.trimmed(starts, feeds)
        self.number = np.flatnonzero(ends > starts)
        self.first, self.end = starts[self.number], ends[self.number]
        before = np.searchsorted(self.blanks, self.end) - 1
        last_blank = np.append(self.blanks, -1)[before]
        self.count = np.maximum(last_blank + 1, self.first)
        self.stack_end = self.trimmed(self.first, self.count)

    def trimmed(self, first: Column, last: Column) -> Column:
        # Blanks in a row differ from their index by the same number.
        rank = np.searchsorted(self.blanks, last) - 1
        shift = self.blanks - np.arange(len(self.blanks))
        began = np.append(np.searchsorted(shift, shift), -1)[rank]
        ending = (rank >= 0) & (np.append(self.blanks, -1)[rank] == last - 1)
        trimmed = np.where(ending, np.append(self.blanks, -1)[began], last)
        return np.maximum(trimmed, first)

    def counts(self) -> Column:
        """Return the counts; of decimals, so that sums of lines stay as they are."""
        self.refuse_differences()
        whole = self._numbers(self.count, self.point)
        if not self.of_decimals:
            return whole
        if (self.point == self.count).any():
            self._no_number(int(np.argmax(self.point == self.count)))
        after = np.minimum(self.point + 1, self.end)
        self._digits(after, self.end)
        places = np.minimum(self.end - after, _DECIMALS)
        exact = whole + self._numbers(after, after + places) / 10.0**places
        rounded: Column = np.diff(np.rint(np.cumsum(exact)), prepend=0).astype(np.int64)
        return rounded

    @cached_property
    def point(self) -> Column:
        """Where each count has its decimal point; its end if it has none."""
        points = np.append(np.flatnonzero(self.text == ord(".")), len(self.text))
        first = points[np.searchsorted(points, self.count)]
        return np.asarray(np.minimum(first, self.end), np.int64)

    @property
    def of_decimals(self) -> bool:
        return bool((self.point < self.end).any())

    def _digits(self, first: Column, last: Column) -> tuple[Codes, Offsets]:
        """Return the digits in each range, and where each range begins in them."""
        lengths = last - first
        digits = self.text[expand(first, lengths)] - np.uint8(ord("0"))
        offsets = offsets_of(lengths)
        if len(digits) and int(digits.max()) > 9:
            place = int(np.argmax(digits > 9))
            self._no_number(int(np.searchsorted(offsets, place, "right")) - 1)
        return digits, offsets

    def _no_number(self, row: int) -> NoReturn:
        self.fault(row, "does not end in a number of samples")

    def _numbers(self, first: Column, last: Column) -> Column:
        """Return the number that the digits in each range are, 0 for none."""
        lengths = last - first
        digits, offsets = self._digits(first, last)
        if len(lengths) and int(lengths.max()) > _DIGITS:
            self.fault(int(lengths.argmax()), "has a count of more than 63 bits")
        place = np.repeat(offsets[1:], lengths) - np.arange(len(digits)) - 1
        parts = digits.astype(np.uint64) * np.uint64(10) ** place.astype(np.uint64)
        found, some = np.zeros(len(lengths), np.uint64), lengths > 0
        if len(parts):
            found[some] = np.add.reduceat(parts, offsets[:-1][some])
        if len(found) and int(found.max()) >> 63:
            self.fault(int(found.argmax()), "has a count of more than 63 bits")
        return found.astype(np.int64)

    def refuse_differences(self) -> None:
        """Raise the error for output of difffolded.pl, which has both sides' counts."""
        ends = self.stack_end[:1000]
        words = [
            self.text[max(int(end) - 1 - _DIGITS, 0) : int(end)].tobytes()
            for end in ends.tolist()
        ]
        if words and all(_SECOND_COUNT.search(word) for word in words):
            raise DamagedError(
                f"{self.name}: two counts on each line, as difffolded.pl writes; give "
                "the folded stacks of each side that it was made from"
            )

    def fault(self, row: int, what: str) -> NoReturn:
        line = self.text[int(self.first[row]) : int(self.end[row])].tobytes()
        shown = printable(clipped(line[:200].decode("utf-8", "backslashreplace")))
        raise DamagedError(
            f"{self.name}: damaged folded stacks: line {int(self.number[row]) + 1} "
            f"{what} ({shown}); write them again, or delete that line"
        )

    @cached_property
    def closed(self) -> bool:
        """Whether each frame ends with a semicolon, as heaptrack_print writes them."""
        ends = self.stack_end[self.stack_end > self.first]
        return bool(len(ends)) and bool((self.text[ends - 1] == ord(";")).all())

    def frames(self) -> tuple[list[bytes], Column]:
        """Return the frames of all stacks, root first, and each stack's depth."""
        end = self.stack_end
        if self.closed:
            end = end - (end > self.first)
        kept = np.flatnonzero(end > self.first)
        first, last = self.first[kept], end[kept]
        depths = np.zeros(len(self.first), np.int64)
        if not len(kept):
            return [], depths
        text = self.text.copy()
        text[last] = ord(";")  # the blank after the stack
        marks = np.flatnonzero(text == ord(";"))
        ends = np.searchsorted(marks, last, "right")
        depths[kept] = ends - np.searchsorted(marks, first)
        # Stacks alternate with what stands between them.
        edges = np.column_stack((first, last + 1)).reshape(-1)
        spans = np.diff(np.concatenate((np.zeros(1, np.int64), edges)))
        inside = np.repeat(np.arange(len(spans)) % 2 == 1, spans)
        stacks = text[: len(inside)][inside]
        return stacks.tobytes()[:-1].split(b";"), depths


def _tables(frames: list[bytes]) -> tuple[Functions, Locations, tuple[str, ...]]:
    parts = [_parsed(frame.decode("utf-8", "replace")) for frame in frames]
    number, (functions,) = numbered([(name, file) for name, file, _ in parts])
    names, files = zip(*number, strict=True) if number else ((), ())
    strings, (_, name, file) = numbered(("",), names, files)
    none = np.zeros(len(frames), np.int64)
    named = np.array([bool(part[0]) for part in parts], np.bool_)
    return (
        Functions(name, name, file, np.zeros(len(names), np.int64)),
        Locations(
            address=none.astype(np.uint64),
            mapping=none.astype(np.int32) - np.int32(1),
            folded=none.astype(np.bool_),
            line_offsets=np.arange(len(frames) + 1, dtype=np.int64),
            line_function=np.where(named, functions, -1).astype(np.int32),
            line_number=np.array([line for *_, line in parts], np.int64),
            line_column=none,
        ),
        tuple(strings),
    )


def _parsed(frame: str) -> tuple[str, str, int]:
    """Return a frame's function, its file ("" if unknown) and line (0 if unknown)."""
    file, line = "", "0"
    frame = frame.strip(" ")
    if (known := _placed(frame)) is not None:
        return known
    if (placed := _FRAME_IN_FILE.fullmatch(frame)) is not None:
        frame, file, line = placed.groups("0")
        if file.endswith(_OF_PYTHON):
            return frame, file, int(line)
    if (script := _SCRIPT_FRAME.fullmatch(frame)) is not None:
        name, file, line, column = script.groups()
        # The body of a module, and functions without names.
        own = file.rpartition("/")[2]
        own = own if (line, column) == ("1", "1") else f"{own}:{line}:{column}"
        return name or own, file, 0
    if (closure := _CLOSURE.fullmatch(frame)) is not None:
        return f"{{closure:{closure[1]}}}", "", 0
    while len(name := _AFTER_NAME.sub("", frame)) < len(frame):
        frame = name
    if _OF_JVM.fullmatch(frame) is not None:
        return _RUN_NUMBER.sub("", frame), file, int(line)
    return readable(frame), file, int(line)


def _placed(frame: str) -> tuple[str, str, int] | None:
    """Return function, file and line of a frame that ends or begins with a file."""
    if (body := _SCRIPT.fullmatch(frame)) is not None:
        # Its folder may be one side's alone. Other frames have no file.
        return body[1] + body[3], "", 0
    if (before := _FILE_BEFORE.fullmatch(frame)) is not None:
        file, line, running, begun = before.groups("")
        # cProfile has ~ for what is not written in Python.
        return running or begun, file.strip("~"), int(line) if running else 0
    if (after := _FILE_AFTER.fullmatch(frame)) is not None:
        name, file, _ = after.groups()
        return name, file, 0
    if (ruby := _RUBY_FRAME.fullmatch(frame)) is not None:
        name, file, line = ruby.groups("")
        return name, file, int(line or "0")
    return None
