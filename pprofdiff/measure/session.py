"""One measuring session: build both sides, run rounds, write notes, clean up."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from pprofdiff._version import __version__
from pprofdiff.errors import FetchError, MeasureError, UsageError
from pprofdiff.inputs.sources.git import GitError, Repository
from pprofdiff.inputs.sources.lookup import FoundSources, sources_at
from pprofdiff.measure.children import signals_later
from pprofdiff.measure.gobuild import (
    Binary,
    Tree,
    environment,
    go_mod_lines,
    programs,
    test_binaries,
    toolchain,
    workspace,
    workspace_here,
)
from pprofdiff.measure.goflags import GoTest
from pprofdiff.measure.layouts import Layouts
from pprofdiff.measure.machine import machine, throttled, throttling, warnings_of
from pprofdiff.measure.planning import planned
from pprofdiff.measure.programs import Commands, Served, UnderLoad, same_for_both
from pprofdiff.measure.rounds import (
    Limits,
    Listener,
    Round,
    Stopped,
    take_turns,
    to_trace,
    unexplained,
    writing,
)
from pprofdiff.measure.search_state import Built
from pprofdiff.measure.sides import (
    SIDES,
    Checkout,
    SideName,
    checked_out,
    checkouts,
)
from pprofdiff.units import printable

if TYPE_CHECKING:
    from pprofdiff.analysis.outcome.model import Outcome
    from pprofdiff.measure.gotest import GoBenchmarks

    Workload = GoBenchmarks | Commands

# Suggest tracing at most this many benchmarks.
_TO_TRACE = 3
_SCHEMA = "pprofdiff-measure/1"
# Equal lengths, so a path embedded in a binary shifts nothing on one side only.
_FOLDERS: dict[SideName, str] = {"base": "old", "new": "new"}


class Request(NamedTuple):
    """What to measure.

    `base` and `new` are refs; "" means the merge base with the default branch, and the
    work tree. `seconds` is how long a run of a side may take. `keep` is the folder for
    captures, "" for none. `command` is a program to run instead of benchmarks: one that
    exits or, with `url`, a server that `load` sends requests to.
    """

    base: str = ""
    new: str = ""
    asked: GoTest = GoTest()
    limits: Limits = Limits()
    seconds: float = 1.0
    trace: bool = False
    keep: str = ""
    command: tuple[str, ...] = ()
    url: str = ""
    load: tuple[str, ...] = ()


class Measured(NamedTuple):
    """A folder with ``base``, ``new`` and ``measure.json``; both sides' sources."""

    out: str
    kept: bool
    base: Checkout
    new: Checkout
    sources: FoundSources
    rounds: tuple[Round, ...]
    stopped: Stopped


@contextmanager
def measured(
    request: Request,
    judge: Callable[[str, FoundSources], Outcome],
    listener: Listener,
    built: Mapping[SideName, Built] | None = None,
) -> Iterator[Measured]:
    """Build both sides, run them in turns, and yield what was measured.

    All files are removed when the block ends, except `request.keep`. `judge` returns
    the outcome of the captures in a folder so far, given both sides' sources. If both
    commits are `built`, they are not built again.

    Raises UsageError without repository, ref, Go or benchmark, or if `keep` is not
    empty; MeasureError if a side does not compile or run; FetchError if a folder cannot
    be written to; KeyboardInterrupt before the first round is complete.
    """
    start = time.monotonic()
    variables = environment()
    repository = Repository("", "measure")
    sides, warnings = checkouts(repository, request.base, request.new)
    _can_keep(request.keep)
    notes = Notes(listener)
    for warning in warnings:
        notes.warn(warning)
    before = machine()
    with _temporary_folder() as root:
        # A go command killed by a signal leaves files here, removed with the rest.
        variables = {**variables, "GOTMPDIR": os.path.join(root, "go")}
        os.mkdir(variables["GOTMPDIR"])
        if built is None:
            trees = _written_out(repository, sides, root, variables, notes)
        else:
            trees = {s.side: built[s.side].tree._replace(checkout=s) for s in sides}
        sources = _sources(repository, sides, root)
        toolchains = {side: toolchain(tree) for side, tree in trees.items()}
        modules = {side: go_mod_lines(tree) for side, tree in trees.items()}
        for warning in warnings_of(before, toolchains, modules):
            notes.warn(warning)
        if built is not None:
            own = {side: one.binaries for side, one in built.items()}
            workload = _planned(request, trees, own, notes)
        elif request.command:
            workload = _commands(request, trees, root, notes)
        else:
            workload = _benchmarks(request, trees, root, notes)
        out = request.keep or os.path.join(root, "runs")
        notes.add(
            sides={side.side: side._asdict() for side in sides},
            toolchains=toolchains,
            go_mod=modules,
            machine=before.notes(),
        )
        heat = throttled()
        with _nothing_left(out):
            rounds, stopped = take_turns(
                workload,
                out,
                request.limits,
                lambda: judge(out, sources),
                listener,
                time.monotonic() - start,
            )
        for warning in throttling(heat, throttled()):
            notes.warn(warning)
        if stopped != "interrupted":
            if request.trace:
                # Not one of the side's runs.
                folders = {side: os.path.join(out, "trace", side) for side in SIDES}
                _traced(workload, folders, listener)
            _trace_what_waits(workload, judge(out, sources), out, notes)
        for warning in workload.doubts():
            notes.warn(warning)
        notes.add(**workload.notes())
        notes.add(stopped=stopped, rounds=[_in_json(one) for one in rounds])
        notes.write(os.path.join(out, "measure.json"))
        kept = bool(request.keep)
        yield Measured(out, kept, *sides, sources, tuple(rounds), stopped)


def _written_out(
    repository: Repository,
    sides: tuple[Checkout, Checkout],
    root: str,
    variables: Mapping[str, str],
    notes: Notes,
) -> dict[SideName, Tree]:
    here = workspace_here(variables)
    trees: dict[SideName, Tree] = {}
    for side in sides:
        notes.listener.doing(f"writing out {side.label}")
        folder = os.path.join(root, _FOLDERS[side.side])
        ours = checked_out(repository, side, folder, notes.warn)
        trees[side.side] = Tree(side, folder, ours, variables)
        without = workspace(trees[side.side], here, repository.top())
        if without:
            notes.warn(without)
    return trees


def _sources(
    repository: Repository, sides: tuple[Checkout, Checkout], root: str
) -> FoundSources:
    commits = [side.commit for side in sides]
    if not all(commits):
        try:
            repository, own = repository.with_work_tree(os.path.join(root, "git"))
        except GitError as error:
            raise MeasureError(f"{sides[1].label}: git: {error}") from None
        commits = [commit or own for commit in commits]
    return sources_at(repository, *commits)


@contextmanager
def _temporary_folder() -> Iterator[str]:
    folder = None
    try:
        with signals_later():
            folder = tempfile.TemporaryDirectory(
                prefix="pprofdiff-", ignore_cleanup_errors=True
            )
        yield folder.name
    finally:
        if folder is not None:
            with signals_later():
                folder.cleanup()


def _can_keep(folder: str) -> None:
    if not folder:
        return
    try:
        if os.path.lexists(folder) and os.listdir(folder):
            raise UsageError(
                f"-o-runs {printable(folder)}: is not empty; name a new folder"
            )
    except OSError as error:
        raise FetchError(
            f"-o-runs {printable(folder)}: {error.strerror or error}"
        ) from None


@contextmanager
def _nothing_left(out: str) -> Iterator[None]:
    """Remove empty folders if measuring fails before the first round is complete."""
    try:
        yield
    except BaseException:
        for folder in (*(os.path.join(out, side) for side in _FOLDERS), out):
            with suppress(OSError):
                os.rmdir(folder)
        raise


def _benchmarks(
    request: Request, trees: dict[SideName, Tree], root: str, notes: Notes
) -> Workload:
    binaries = {}
    for side, tree in trees.items():
        notes.listener.doing(f"building {tree.checkout.label}")
        folder = os.path.join(root, "bin", _FOLDERS[side])
        binaries[side] = test_binaries(tree, request.asked, folder)
    return _planned(request, trees, binaries, notes)


def _planned(
    request: Request,
    trees: dict[SideName, Tree],
    binaries: Mapping[SideName, Mapping[str, Binary]],
    notes: Notes,
) -> Workload:
    notes.listener.doing("finding out how long the benchmarks take")
    layouts = Layouts(request.asked, trees, binaries)
    return planned(layouts, request.seconds, notes.warn)


def _commands(
    request: Request, trees: dict[SideName, Tree], root: str, notes: Notes
) -> Workload:
    folders: dict[SideName, str] = {}
    for side, tree in trees.items():
        notes.listener.doing(f"building {tree.checkout.label}")
        folders[side] = os.path.join(root, "bin", _FOLDERS[side])
        programs(tree, request.asked, folders[side])
    warning = same_for_both(request.command, folders)
    if warning:
        notes.warn(warning)
    if not request.url:
        return Commands(request.command, trees, folders, request.asked)
    return Served(
        request.command,
        trees,
        folders,
        request.asked,
        UnderLoad(request.url, request.load, request.seconds),
    )


def _traced(
    workload: Workload, folders: Mapping[SideName, str], listener: Listener
) -> None:
    listener.doing("tracing")
    for side, folder in folders.items():
        os.makedirs(folder)
        workload.trace(side, os.path.abspath(folder))


def _trace_what_waits(
    workload: Workload, outcome: Outcome, out: str, notes: Notes
) -> None:
    """Trace both sides if CPU does not explain the time; else suggest what to trace.

    With several benchmarks, a trace of one does not represent the mix. If other
    programs ran, they may explain the time.
    """
    if workload.traceable and unexplained(outcome):
        folders = {side: os.path.join(out, side, "traced") for side in SIDES}
        _traced(workload, folders, notes.listener)
    if workload.doubts():
        return
    for name in to_trace(outcome)[:_TO_TRACE]:
        notes.warn(
            f"CPU explains less than half of how the time of Benchmark{name} changed; "
            "to see what it waits for, measure it alone: "
            f"-bench='^Benchmark{name}$'"
        )


def _in_json(one: Round) -> dict[str, Any]:
    return {
        "number": one.number,
        "runs": [{"side": side, "started": began} for side, began in one.started],
    }


class Notes:
    """Collects what goes into `measure.json`."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self._all: dict[str, Any] = {"schema": _SCHEMA, "pprofdiff": __version__}
        self._warnings: list[str] = []

    def add(self, **values: Any) -> None:  # noqa: ANN401 - any JSON value
        """Add values by name."""
        self._all.update(values)

    def warn(self, message: str) -> None:
        """Record a warning and pass it to the listener."""
        self._warnings.append(message)
        self.listener.warn(message)

    def write(self, path: str) -> None:
        """Write the notes to a JSON file; raises FetchError."""
        text = json.dumps({**self._all, "warnings": self._warnings}, indent=1)
        with writing(path), open(path, "w", encoding="utf-8") as file:
            file.write(f"{text}\n")
