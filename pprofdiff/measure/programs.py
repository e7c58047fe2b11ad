"""Run programs of both sides: one that exits and writes profiles, or a server."""

from __future__ import annotations

import os
import shlex
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from typing import Any, NamedTuple

from pprofdiff.errors import FetchError, MeasureError, PprofDiffError, UsageError
from pprofdiff.inputs.fetch import download, request_for
from pprofdiff.inputs.model import ReadOptions
from pprofdiff.inputs.reading import read
from pprofdiff.inputs.redaction import without_secrets
from pprofdiff.measure.children import Program, first_lines, has_ended, run, started
from pprofdiff.measure.gobuild import (
    Link,
    Tree,
    linked,
    program_files,
    with_gctrace,
    without_gctrace,
)
from pprofdiff.measure.goflags import GoTest
from pprofdiff.measure.layouts import can_vary, order_of
from pprofdiff.measure.sides import SideName, Started, order
from pprofdiff.units import printable

_OUT = "PPROFDIFF_OUT"
# How long a server may take to answer, and to exit.
_START_S, _END_S = 30.0, 5.0
_PAUSE_S = 0.05
_SECONDS = 300.0
# How much of a failed program's output is searched for the reason.
_MOST_SAID = 1 << 22


def same_for_both(words: Sequence[str], folders: Mapping[SideName, str]) -> str:
    """Return a warning if a program was not built from both sides, else ""."""
    name = words[0]
    if os.path.dirname(name):
        return ""
    if all(os.path.exists(os.path.join(folder, name)) for folder in folders.values()):
        return ""
    return (
        f"{printable(name)} is not a program that go build made for both sides: the "
        "same one is run for both, each in its side's folder"
    )


class Commands:
    """A program that exits and writes its captures to the folder ``$PPROFDIFF_OUT``.

    It is looked up among its side's own programs first, and runs in its side's folder.
    Its output is kept if it is readable evidence.
    """

    # The program decides what it writes and samples.
    traceable = False
    enough = True

    def __init__(
        self,
        words: Sequence[str],
        trees: Mapping[SideName, Tree],
        folders: Mapping[SideName, str],
        asked: GoTest,
    ) -> None:
        self.words = tuple(words)
        self._trees = trees
        self._folders = folders
        self._asked = asked
        self._vary = can_vary(trees)
        self._number = count()

    def seconds(self, spent: float) -> float:
        """Return how many seconds rounds may take; a run may take a minute."""
        return max(_SECONDS - spent, _SECONDS / 2)

    def round(self, folders: Mapping[SideName, str]) -> Started:
        """Run each side once, with another function order in each round."""
        began = []
        number = next(self._number)
        if number:
            self._relink(number)
        for side in order(number):
            began.append((side, time.time()))
            self.run(side, folders[side])
        return tuple(began)

    def _relink(self, seed: int) -> None:
        if not self._vary:
            return
        wanted = [
            Link(tree, program_files(self._folders[side]), self._asked.packages)
            for side, tree in self._trees.items()
        ]
        try:
            linked(self._asked, wanted, order_of(seed))
        except MeasureError:
            self._vary = False

    def run(self, side: SideName, folder: str) -> None:
        """Run the program; raises MeasureError if it fails or writes nothing."""
        program = self._program(side, self.words, folder)
        with self._printed(folder) as (out, errors):
            status = run(program, out, errors).status
            if status:
                raise self._failed(side, self.words, status, folder)
        if not os.listdir(folder):
            raise MeasureError(
                f"{self._trees[side].checkout.label}: {printable(self.words[0])} wrote "
                f"nothing to the folder that {_OUT} names, in its environment"
            )

    def trace(self, side: SideName, folder: str) -> None:  # noqa: ARG002 - as of `GoBenchmarks`
        """Raise UsageError: the program decides what it writes."""
        raise UsageError("--trace is not for --cmd: the program writes what it does")

    def doubts(self) -> list[str]:
        """Return no warnings: the program decides how it spends time."""
        return []

    def notes(self) -> dict[str, Any]:
        """Return what is run, for `measure.json`."""
        return {"command": without_secrets(self.words)}

    def _program(self, side: SideName, words: Sequence[str], folder: str) -> Program:
        tree = self._trees[side]
        variables = {
            **with_gctrace(tree.environment),
            "PATH": os.pathsep.join(
                (self._folders[side], tree.environment.get("PATH", os.defpath))
            ),
            _OUT: os.path.abspath(folder),
        }
        return Program(words, tree.folder, variables)

    @contextmanager
    def _printed(self, folder: str) -> Iterator[tuple[Any, Any]]:
        """Open files for a program's output; keep only those with evidence."""
        paths = [os.path.join(folder, name) for name in ("output.txt", "gctrace.log")]
        with open(paths[0], "wb") as out, open(paths[1], "wb") as errors:
            yield out, errors
        for path in paths:
            _keep_if_asked(path)

    def _failed(
        self, side: SideName, words: Sequence[str], status: int, folder: str
    ) -> MeasureError:
        lines: tuple[str, ...] = ()
        for name in ("gctrace.log", "output.txt", "load.txt"):
            path = os.path.join(folder, name)
            if os.path.exists(path):
                with open(path, "rb") as file:
                    lines += first_lines(without_gctrace(file.read(_MOST_SAID)))
        ended = f"signal {-status}" if status < 0 else f"exit status {status}"
        reason = f": {lines[0].strip()}" if lines else ""
        return MeasureError(
            f"{self._trees[side].checkout.label}: {printable(words[0])} fails: "
            f"{ended}{reason}",
            lines,
        )


def _keep_if_asked(path: str) -> None:
    try:
        read([path])
    except PprofDiffError:
        os.unlink(path)


class UnderLoad(NamedTuple):
    """How to profile a server for `seconds`, while the command `load` sends requests.

    `url` is the server's ``/debug/pprof``.
    """

    url: str
    load: Sequence[str]
    seconds: float


class Served(Commands):
    """A server that is started, profiled under load, and stopped."""

    def __init__(
        self,
        words: Sequence[str],
        trees: Mapping[SideName, Tree],
        folders: Mapping[SideName, str],
        asked: GoTest,
        under: UnderLoad,
    ) -> None:
        super().__init__(words, trees, folders, asked)
        self._url = _of_pprof(under.url)
        self._shown = printable(without_secrets([self._url])[0])
        self._probed = False
        self._load = tuple(under.load)
        self._seconds = max(1, round(under.seconds))

    def run(self, side: SideName, folder: str) -> None:
        """Write cpu.pb.gz, allocs.pb.gz, and load.txt and gctrace.log if not empty."""
        if not self._probed:
            self._probe()
        with self._printed(folder) as printed, self._serving(side, folder, printed):
            with self._loaded(side, folder):
                self._fetch(f"profile?seconds={self._seconds}", folder, "cpu.pb.gz")
            self._fetch("allocs", folder, "allocs.pb.gz")

    def trace(self, side: SideName, folder: str) -> None:
        """Write trace.out with one second under load."""
        with (
            self._printed(folder) as printed,
            self._serving(side, folder, printed),
            self._loaded(side, folder),
        ):
            self._fetch("trace?seconds=1", folder, "trace.out")

    def notes(self) -> dict[str, Any]:
        """Return what is run, for `measure.json`."""
        load = {
            "url": self._shown,
            "load": without_secrets(self._load),
            "seconds": self._seconds,
        }
        return {**super().notes(), **load}

    def _probe(self) -> None:
        """Start each side's server once before the first round, and fetch a profile.

        Raises MeasureError if the URL does not serve profiles.
        """
        for side, tree in self._trees.items():
            with (
                tempfile.TemporaryDirectory(dir=self._folders[side]) as folder,
                self._printed(folder) as printed,
                self._serving(side, folder, printed),
            ):
                self._fetch("allocs", folder, "allocs.pb.gz")
                try:
                    read([os.path.join(folder, "allocs.pb.gz")])
                except PprofDiffError:
                    raise MeasureError(
                        f"{tree.checkout.label}: {self._shown}/allocs: is not a profile"
                        "; --url is where the program serves net/http/pprof, such as "
                        "http://localhost:6060/debug/pprof"
                    ) from None
        self._probed = True

    @contextmanager
    def _serving(
        self, side: SideName, folder: str, printed: tuple[Any, Any]
    ) -> Iterator[None]:
        """Run the server, from its first answer until the block ends."""
        if not self._refused():
            raise UsageError(
                f"{self._shown}: something already listens there; stop it, or "
                "use another port"
            )
        program = self._program(side, self.words, folder)
        with started(program, *printed) as server:
            until = time.monotonic() + _START_S
            while refused := self._refused():
                if has_ended(server):
                    raise self._failed(side, self.words, server.wait(), folder)
                if time.monotonic() > until:
                    raise MeasureError(
                        f"{self._trees[side].checkout.label}: "
                        f"{printable(self.words[0])} does not answer at "
                        f"{self._shown} within {_START_S:.0f} s: {refused}"
                    )
                time.sleep(_PAUSE_S)
            yield
            if has_ended(server):
                raise self._failed(side, self.words, server.wait(), folder)
            server.terminate()
            until = time.monotonic() + _END_S
            while not has_ended(server) and time.monotonic() < until:
                time.sleep(_PAUSE_S)

    @contextmanager
    def _loaded(self, side: SideName, folder: str) -> Iterator[None]:
        program = self._program(side, self._load, folder)
        path = os.path.join(folder, "load.txt")
        with ExitStack() as stack:
            out = stack.enter_context(open(path, "wb"))
            load = stack.enter_context(started(program, out, out))
            yield
            load.wait()
        if load.returncode:
            raise self._failed(side, self._load, load.returncode, folder)
        _keep_if_asked(path)

    def _refused(self) -> str:
        options = ReadOptions(timeout=_END_S)
        request = request_for(f"{self._url}/", options)
        try:
            download(request, options.max_size)
        except FetchError as error:
            return str(error).removeprefix(f"{request.shown}: ")
        return ""

    def _fetch(self, what: str, folder: str, name: str) -> None:
        options = ReadOptions()
        data = download(request_for(f"{self._url}/{what}", options), options.max_size)
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)


def _of_pprof(url: str) -> str:
    scheme, separator, rest = url.rpartition("://")
    rest = rest.rstrip("/")
    if "/" not in rest.rpartition("@")[2]:
        rest += "/debug/pprof"
    return f"{scheme}{separator}{rest}"


def program_words(text: str, flag: str) -> list[str]:
    """Split a command into words as a shell does; raises UsageError."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--{flag}: {error}") from None
    if not words:
        raise UsageError(f"--{flag} needs a program and its arguments")
    return words
