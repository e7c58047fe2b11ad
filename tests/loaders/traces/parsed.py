"""What ``go tool trace -d=parsed`` says of a trace: the reference, one event at a time.

Everything here is slow and plain on purpose. Go's reader moves an event whose time is
not above the one before to one nanosecond after it (`Reader.ReadEvent`), from wherever
it was: an event that waits for others may be much older than those.
"""

from __future__ import annotations

import ast
import re
import subprocess
import tempfile
from functools import cache
from itertools import pairwise
from typing import NamedTuple

LINE = re.compile(r"M=(-?\d+) P=(-?\d+) G=(-?\d+) (\w+) Time=(-?\d+)(.*)")
TRANSITION = re.compile(r' (GoID|ProcID)=(\d+) (\w+)->(\w+) Reason=("(?:\\.|[^"])*")')
NOTHING = 2**64 - 1


class Time(int):
    """Nanoseconds; `moved` says whether the event may be of any time before."""

    moved: bool

    def __new__(cls, ns, moved):
        """Return a time."""
        made = super().__new__(cls, ns)
        made.moved = moved
        return made


def same(ours, theirs):
    """Return whether rows are equal, but for what Go may have moved events by."""
    if isinstance(theirs, Time):
        return ours is not None and (ours == theirs or (theirs.moved and ours < theirs))
    if isinstance(theirs, (tuple, list)):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return ours == theirs


def assert_same(ours, theirs):
    """Compare rows by key, one by one."""
    assert sorted(ours) == sorted(theirs)
    for key, rows in theirs.items():
        assert len(ours[key]) == len(rows), key
        pairs = zip(ours[key], rows, strict=True)
        assert [pair for pair in pairs if not same(*pair)] == [], key


def assert_processors(ours, theirs):
    """Compare rows of processors; Go does not say of each row whether it was stolen."""
    assert sorted(ours) == sorted(theirs)
    got = {
        name: [
            (*mine[:3], mine[3] and go[3])
            for mine, go in zip(rows, theirs[name], strict=False)
        ]
        for name, rows in ours.items()
    }
    assert {n: len(r) for n, r in ours.items()} == {
        n: len(r) for n, r in theirs.items()
    }
    assert_same(got, theirs)


class Event(NamedTuple):
    """One event as printed, with its stacks: (function, line) pairs, leaf first.

    `moved` is what a change of state is of: (resource, id, old, new, reason).
    """

    thread: int
    processor: int
    goroutine: int
    kind: str
    time: Time
    rest: str
    moved: tuple[str, int, str, str, str] | None
    stack: tuple[tuple[str, int], ...]
    own_stack: tuple[tuple[str, int], ...]


def events_of(path):
    """Return Go's events of a file, and its last line if that is an error.

    Experimental events, which nobody here asks for, are left out: a trace may have a
    million. Equal texts and stacks are kept once.
    """
    with tempfile.TemporaryFile() as errors, subprocess.Popen(
        ["go", "tool", "trace", "-d=parsed", str(path)],
        stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8",
        errors="replace",
    ) as process:  # fmt: skip
        found = list(read_events(process.stdout))
        process.wait()
        errors.seek(0)
        return found, errors.read().decode("utf-8", "replace").strip()


def read_events(lines):
    """Yield the events of printed lines."""
    once = cache(lambda value: value)
    fields, stacks, frames, last, function = None, ([], []), [], 0, ""

    def whole():
        return Event(*fields, *(once(_stack_of(stack)) for stack in stacks))

    for line in lines:
        if line[0] == "M" and (match := LINE.fullmatch(line.rstrip("\n"))):
            if fields:
                yield whole()
            time = int(match[5])
            when = Time(time, time == last + 1)
            last = time
            fields, stacks = None, ([], [])
            if match[4] != "Experimental":
                numbers = (int(n) for n in match.group(1, 2, 3))
                moved = _moved(match[6]) if match[4] == "StateTransition" else None
                rest = "" if moved else once(match[6])
                fields = (*numbers, once(match[4]), when, rest, moved)
        elif line in ("Stack=\n", "TransitionStack=\n"):
            frames = stacks[line != "Stack=\n"]
        elif line.startswith("\t\t"):
            frames.append((function, int(line.rpartition(":")[2])))
        elif line.startswith("\t"):
            function = once(line[1:-1].rpartition(" @ ")[0])
    if fields:
        yield whole()


@cache
def _reason(quoted):
    return ast.literal_eval(quoted)


def _moved(text):
    """Return what a change of state says."""
    match = TRANSITION.match(text)
    if match is None:
        return None
    resource, number, old, new, reason = match.groups()
    return resource, int(number), old, new, _reason(reason)


def _stack_of(frames):
    """Return a stack; one whose frames are all empty is none, as for Go."""
    return tuple(frames) if any(name or line for name, line in frames) else ()


def transitions(events, resource):
    """Yield (event, id, old, new, reason) for each change of state of a resource."""
    for event in events:
        if event.moved is None:
            continue
        moves, number, old, new, reason = event.moved
        if moves == resource and old != new:
            yield event, number, old, new, reason


STATES = {"NotExist": 0, "Runnable": 1, "Running": 2, "Syscall": 3, "Waiting": 4}
BLOCKED = 5


class Row(NamedTuple):
    """A change of state: when, to what, and where."""

    time: Time
    state: int
    reason: str
    processor: int
    thread: int
    by: int
    stack: tuple[tuple[str, int], ...]


def goroutines(events, *, stopped_first=False):
    """Return each goroutine's rows, by the rules of internal/trace/summary.go.

    But a goroutine that is in a system call when it is first mentioned, on no processor,
    has none all the while (deviation 3 of `tests.analysis.traces.deviations`). With
    `stopped_first`, as in formats up to 1.21, the world was stopped as the trace began:
    so no call had a processor, whatever the event is on.
    """
    rows, in_call, sync = {}, {}, 0
    changes = {
        id(e): (g, old, new, r) for e, g, old, new, r in transitions(events, "GoID")
    }
    stops = {
        id(e): p for e, p, _, new, _ in transitions(events, "ProcID") if new == "Idle"
    }

    def note(goroutine, event, when, state, reason=""):
        by = event.goroutine if event.goroutine != goroutine else -1
        place = event.processor, event.thread, by, event.stack
        rows.setdefault(goroutine, []).append(Row(when, state, reason, *place))

    for event in events:
        if event.kind == "Sync":
            sync = event.time
        now = event.time
        caller = in_call.pop(stops.get(id(event)), None)
        if caller:
            note(caller, event, now, BLOCKED)
        if id(event) not in changes:
            continue
        goroutine, old, new, reason = changes[id(event)]
        in_call = {p: g for p, g in in_call.items() if g != goroutine}
        state = STATES[new]
        if old == "Undetermined":
            now = sync
            if new == "Syscall" and (event.processor < 0 or stopped_first):
                state = BLOCKED
        note(goroutine, event, now, state, reason)
        if new == "Syscall" and state != BLOCKED and event.processor >= 0:
            in_call[event.processor] = goroutine
    for held in rows.values():
        _without_its_end(held)
    return rows


def _without_its_end(held):
    """Drop each loss of a processor that is one with a goroutine's end."""
    ends = [
        i
        for i, (row, after) in enumerate(pairwise(held))
        if (row.state, after.state) == (BLOCKED, 0) and after.time - row.time <= 1
    ]
    for i in reversed(ends):
        del held[i]


def names(events):
    """Return each goroutine's root function: of its first own stack."""
    found = {}
    for event, goroutine, *_ in transitions(events, "GoID"):
        if event.own_stack:
            found.setdefault(goroutine, event.own_stack[-1][0])
    return found


def processors(events):
    """Return each processor's rows: (time, runs, thread, surely stolen)."""
    rows, sync = {}, 0
    moves = {
        id(e): (p, old, new) for e, p, old, new, _ in transitions(events, "ProcID")
    }
    for event in events:
        if event.kind == "Sync":
            sync = event.time
        if id(event) in moves:
            processor, old, new = moves[id(event)]
            when = sync if old == "Undetermined" else event.time
            stolen = new == "Idle" and old == "Running" and event.processor != processor
            rows.setdefault(processor, []).append(
                (when, new == "Running", event.thread, stolen)
            )
    return rows


RANGE = re.compile(r' Name="([^"]*)" Scope=(\w+)(?:\((\d+)\))?(.*)')
BYTES = re.compile(r'"bytes (?:swept|reclaimed)"=Value{Uint64\((\d+)\)}')


def ranges(events):
    """Return ranges by (name, owner): (start, seen, end or None, swept, reclaimed)."""
    found, open_, sync = {}, {}, 0
    for event in events:
        if event.kind == "Sync":
            sync = event.time
        if not event.kind.startswith("Range"):
            continue
        name, _, owner, rest = RANGE.fullmatch(event.rest).groups()
        key = name, int(owner or 0)
        if event.kind == "RangeEnd":
            start, seen = open_.pop(key)
            swept = tuple(int(n) for n in BYTES.findall(rest)) or (-1, -1)
            found.setdefault(key, []).append((start, seen, event.time, *swept))
        elif key not in open_:
            seen = event.kind == "RangeBegin"
            open_[key] = (event.time if seen else sync, seen)
    for key, (start, seen) in open_.items():
        found.setdefault(key, []).append((start, seen, None, -1, -1))
    return found


def quoted(text, *names):
    """Return what stands behind ``name=`` in an event's text, strings unquoted.

    A byte that is no text, here 0xff, is as in our strings.
    """
    values = []
    for name in names:
        value = re.search(rf' {name}=("(?:\\.|[^"])*"|\S+)', text)[1]
        if value[0] == '"':
            value = ast.literal_eval(value).replace("\xff", "\ufffd")
        values.append(value)
    return values


def tasks(events):
    """Return tasks: (id, parent, name, start or None, end or None, by whom, by whom)."""
    open_, done = {}, []
    for event in events:
        if event.kind not in ("TaskBegin", "TaskEnd"):
            continue
        name, parent, kind = quoted(event.rest, "ID", "Parent", "Type")
        if event.kind == "TaskBegin":
            above = int(parent) % NOTHING
            open_[int(name)] = (above, kind, event.time, event.goroutine)
        elif int(name) in open_:
            above, kind, start, by = open_.pop(int(name))
            row = int(name), above, kind, start, event.time, by, event.goroutine
            done.append(row)
        else:
            done.append((int(name), 0, "", None, event.time, -1, event.goroutine))
    done += [(n, *held[:3], None, held[3], -1) for n, held in open_.items()]
    return done


def regions(events):
    """Return regions: (goroutine, task, name, depth, start or None, end or None)."""
    open_, done = {}, []
    for event in events:
        if event.kind not in ("RegionBegin", "RegionEnd"):
            continue
        task, name = quoted(event.rest, "Task", "Type")
        held = open_.setdefault(event.goroutine, [])
        if event.kind == "RegionBegin":
            held.append((int(task), name, len(held) + 1, event.time))
        elif held:
            done.append((event.goroutine, *held.pop(), event.time))
        else:
            done.append((event.goroutine, int(task), name, 0, None, event.time))
    done += [(g, *held, None) for g, rows in open_.items() for held in rows]
    return done


def logs(events):
    """Return logs: (time, goroutine, task, key, text)."""
    found = []
    for event in events:
        if event.kind == "Log":
            task, key, text = quoted(event.rest, "Task", "Category", "Message")
            found.append((event.time, event.goroutine, int(task), key, text))
    return found


def labels(events):
    """Return labels: (time, goroutine, label)."""
    return [
        (event.time, event.goroutine, quoted(event.rest, "Label")[0])
        for event in events
        if event.kind == "Label"
    ]


def metrics(events):
    """Return what each metric was when, by its name."""
    found = {}
    for event in events:
        if event.kind == "Metric":
            name, value = quoted(event.rest, "Name", "Value")
            number = int(re.search(r"\d+", value.partition("(")[2])[0])
            found.setdefault(name, []).append((event.time, number))
    return found


def assert_same_metrics(found, events):
    """Compare what metrics were; at one time on two threads either may be first."""
    expected = metrics(events)
    assert sorted(found) == sorted(expected)
    for name, rows in expected.items():
        assert sorted(v for _, v in found[name]) == sorted(v for _, v in rows)
        assert same([t for t, _ in found[name]], [t for t, _ in rows])


def samples(events):
    """Return CPU samples: (time, goroutine, processor, thread, stack)."""
    return [
        (e.time, e.goroutine, e.processor, e.thread, e.stack)
        for e in events
        if e.kind == "StackSample"
    ]


# What is compared row by row, and where its rows have their goroutine.
MARKS = {tasks: 5, regions: 0, logs: 1, labels: 1, samples: 1}


def assert_same_marks(ours, events, read):
    """Compare the rows that `read`, of `MARKS`, returns; `ours` is an `ours.Plain`."""

    def order(row):
        # By goroutine: Go moves one of two events that are at the same time.
        values = [-1 if value is None else value for value in row]
        return [values[place] for place in (MARKS[read], 0)] + [str(values)]

    mine = sorted(getattr(ours, read.__name__)(), key=order)
    theirs = sorted(read(events), key=order)
    assert len(mine) == len(theirs)
    assert [p for p in zip(mine, theirs, strict=True) if not same(*p)] == []
