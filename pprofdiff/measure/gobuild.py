"""Run the go command in a side's folder, and the test binaries that it builds."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from pprofdiff.errors import MeasureError, UsageError
from pprofdiff.inputs.sources.git import OF_A_HOOK
from pprofdiff.measure.children import Ended, Program, first_lines, run, started
from pprofdiff.measure.goflags import GoTest
from pprofdiff.measure.sides import Checkout
from pprofdiff.units import printable

_FORMAT = "{{.ImportPath}}\t{{.Dir}}\t{{len .TestGoFiles}}\t{{len .XTestGoFiles}}"
_LDFLAGS = re.compile(r"-ldflags=")
_NO_MODULE = "go.mod file not found"
# Output of the go command that says where something failed, not what.
_HEADING = re.compile(r"# |FAIL\t")
_DOWNLOADS = re.compile(rb"^go: (?:downloading|finding|extracting) .*\n?", re.MULTILINE)
_MOST = 1 << 26
_MINOR = re.compile(r"1\.(\d+)")
# Last patch of each minor release (https://go.dev/doc/devel/release); later minor
# releases have a .0.
_LAST_PATCH = {16: 15, 17: 13, 18: 10, 19: 13, 20: 14, 21: 13, 22: 12, 23: 12}
# An example for messages; any release works.
_RELEASE = "go1.22.12"
# The result line of a benchmark that ran no operations.
_NOTHING_DONE = re.compile(rb"^Benchmark\S*\s+0\s", re.MULTILINE)
# What a test binary prints of benchmarks that do not fail.
_OF_OTHERS = re.compile(rb"(?:goos|goarch|pkg|cpu): |PASS$|Benchmark\S*\s+[1-9]\d*\s")
# The runtime writes a GODEBUG=gctrace=1 line in pieces (mgc.go), so the program's
# output may split it: this matches a whole line, its start or its end.
_GCTRACE = re.compile(
    rb"^gc \d+ @[\d.]*s?"
    rb"(?:[\d.+/>%:, -]|ms|clock|cpu|MB|goal|stacks|globals|(?<=\d )P|\(forced\))*"
    rb"|^(?:[\d ]*P)?(?: \(forced\))?$",
    re.MULTILINE,
)


class Tree(NamedTuple):
    """A side's files: its root, and the folder that matches the working directory."""

    checkout: Checkout
    root: str
    folder: str
    environment: Mapping[str, str]


class Binary(NamedTuple):
    """A package's test binary and the folder it runs in."""

    package: str
    path: str
    folder: str


def environment() -> dict[str, str]:
    """Return the environment for the go command and programs of a side.

    A workspace must come from the side's own files, and VCS stamping is off because
    there is no ``.git``. Raises UsageError if Go is not installed.
    """
    if shutil.which("go") is None:
        raise UsageError(
            "measure: there is no go on PATH, and both sides are built with it: "
            "https://go.dev/dl"
        )
    variables = dict(os.environ)
    for name in OF_A_HOOK:
        variables.pop(name, None)
    if variables.get("GOWORK") != "off":
        variables.pop("GOWORK", None)
    flags = variables.get("GOFLAGS", "").split(" ")
    variables["GOFLAGS"] = " ".join([*filter(None, flags), "-buildvcs=false"])
    return variables


def with_gctrace(variables: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which programs print each GC cycle."""
    given = variables.get("GODEBUG")
    return {**variables, "GODEBUG": f"{given},gctrace=1" if given else "gctrace=1"}


def go(tree: Tree, words: Sequence[str], failure: str) -> bytes:
    """Run the go command in a side's folder and return its output.

    Raises MeasureError; its message starts with the side and `failure`.
    """
    program = Program(["go", *words], tree.folder, tree.environment)
    status, output, errors = _output(program)
    if status == 0:
        return output
    lines = here(tree, first_lines(_DOWNLOADS.sub(b"", errors), output))
    reason = next((line for line in lines if not _HEADING.match(line)), "no reason")
    if _NO_MODULE in reason:
        failure = "no module here (measure commits with a go.mod, from its folder)"
    raise MeasureError(f"{tree.checkout.label}: {failure}: {reason.strip()}", lines)


def _output(program: Program) -> tuple[int, bytes, bytes]:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        status = run(program, out, errors).status
        out.seek(0)
        errors.seek(0)
        return status, out.read(_MOST), errors.read(_MOST)


def compiled(tree: Tree, words: Sequence[str]) -> None:
    """Run a compiling go command; raises MeasureError.

    Its message suggests the release of go.mod if older: the source may need that.
    """
    try:
        go(tree, words, "does not compile")
    except MeasureError as error:
        used = toolchain(tree)
        hint = f"; take another release with GOTOOLCHAIN={_RELEASE} pprofdiff measure …"
        asked = go_mod_lines(tree).get("go", "")
        if older := _older(asked, used):
            hint = (
                f"; its go.mod says go {asked}: try GOTOOLCHAIN={older} pprofdiff "
                "measure …"
            )
        said = str(error).replace("does not compile", f"does not compile with {used}")
        raise MeasureError(f"{said}{hint}", error.output) from None


def _older(asked: str, used: str) -> str:
    """Return the last patch of the minor release that go.mod asks for.

    "" if it is not older than the one in use, or older than 1.16, which `measure` is
    not tested with.
    """
    want, have = _MINOR.match(asked), _MINOR.match(used.removeprefix("go"))
    if want is None or have is None or int(want[1]) >= int(have[1]):
        return ""
    minor = int(want[1])
    if minor < min(_LAST_PATCH):
        return ""
    return f"go1.{minor}.{_LAST_PATCH.get(minor, 0)}"


def here(tree: Tree, lines: Sequence[str]) -> tuple[str, ...]:
    """Return lines with a side's folder replaced by the user's relative path."""
    return tuple(
        line.replace(tree.folder, ".").replace(tree.root, "(root)") for line in lines
    )


def test_binaries(tree: Tree, asked: GoTest, folder: str) -> dict[str, Binary]:
    """Build the test binary of each package that has tests; return them by import path.

    Raises MeasureError if a side does not compile, UsageError for an absolute package
    path, which would refer to the user's files.
    """
    for package in asked.packages:
        if os.path.isabs(package):
            raise UsageError(
                f"measure: {printable(package)}: name packages from here, such as "
                "./store: each side has its own"
            )
    words = ["list", "-f", _FORMAT, *asked.build, "--", *asked.packages]
    failure = "packages cannot be listed (others, such as ./..., are named after --)"
    listed = go(tree, words, failure).decode("utf-8", "replace")
    os.makedirs(folder)
    binaries: dict[str, Binary] = {}
    for line in listed.splitlines():
        package, place, *tests = line.split("\t")
        if not any(int(count) for count in tests):
            continue
        path = os.path.join(folder, f"{len(binaries)}.test")
        compiled(tree, [*test_binary(path), *asked.build, package])
        binaries[package] = Binary(package, path, place)
    return binaries


class Link(NamedTuple):
    """What to link: a side's tree, the first words of the command, and packages."""

    tree: Tree
    words: Sequence[str]
    packages: Sequence[str]


def linked(asked: GoTest, wanted: Sequence[Link], flags: str) -> None:
    """Relink compiled packages with additional linker flags, all in parallel.

    Raises MeasureError if a link fails.
    """
    last = next((word for word in reversed(asked.build) if _LDFLAGS.match(word)), "")
    own = f"-ldflags={_LDFLAGS.sub('', last)} {flags}"
    with ExitStack() as stack:
        running = []
        for tree, words, packages in wanted:
            said = stack.enter_context(tempfile.TemporaryFile())
            command = ["go", *words, *asked.build, own, *packages]
            program = Program(command, tree.folder, tree.environment)
            process = stack.enter_context(started(program, said, said))
            running.append((tree, process, said))
        for tree, process, said in running:
            if process.wait():
                said.seek(0)
                lines = here(tree, first_lines(said.read(_MOST)))
                raise MeasureError(f"{tree.checkout.label}: cannot be linked", lines)


def test_binary(path: str) -> tuple[str, ...]:
    """Return the start of the go command that builds a package's test binary."""
    return "test", "-c", "-vet=off", "-o", path


def programs(tree: Tree, asked: GoTest, folder: str) -> None:
    """Build the packages' programs into a folder; raises MeasureError."""
    os.makedirs(folder)
    compiled(tree, [*program_files(folder), *asked.build, *asked.packages])


def program_files(folder: str) -> tuple[str, ...]:
    """Return the start of the go command that builds programs into a folder."""
    return "build", "-o", os.path.join(folder, "")


def workspace(tree: Tree, path: str, top: str) -> str:
    """Return why a side is built without the current go.work, or "" if it is not.

    `path` is that go.work, "" or ``off`` for none; `top` is the user's work tree.
    """
    if path in ("", "off"):
        return ""
    place = os.path.relpath(os.path.realpath(path), os.path.realpath(top))
    if place.startswith(os.pardir):
        return (
            f"the workspace {printable(path)} is outside of the repository: "
            f"{tree.checkout.label} is built without it"
        )
    if os.path.exists(os.path.join(tree.root, place)):
        return ""
    return (
        f"{printable(place)} is in .gitignore, or is not committed: "
        f"{tree.checkout.label} is built without it"
    )


def workspace_here(variables: Mapping[str, str]) -> str:
    """Return the go.work in effect in the working directory, "" for none."""
    variables = {**variables, "GOWORK": os.environ.get("GOWORK", "")}
    program = Program(["go", "env", "GOWORK"], os.getcwd(), variables)
    status, output, _ = _output(program)
    return "" if status else output.decode("utf-8", "surrogateescape").strip()


def toolchain(tree: Tree) -> str:
    """Return the Go release that builds a side, such as ``go1.26.0``."""
    output = go(tree, ["env", "GOVERSION"], "Go cannot be run")
    return output.decode("utf-8", "replace").strip()


def go_mod_lines(tree: Tree) -> dict[str, str]:
    """Return the ``go`` and ``toolchain`` lines that a side's go.mod has."""
    output = go(tree, ["env", "GOMOD"], "Go cannot be run")
    path = output.decode("utf-8", "surrogateescape").strip()
    if not path or path == os.devnull:
        return {}
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(_MOST)
    except OSError:
        return {}
    return {
        found[1]: found[2]
        for found in re.finditer(r"^(go|toolchain)[ \t]+(\S+)", text, re.MULTILINE)
    }


def run_tests(
    tree: Tree, binary: Binary, flags: Sequence[str], gctrace: str = ""
) -> tuple[bytes, Ended]:
    """Run a test binary without its tests; return its output and how it ended.

    `gctrace` is the file for the log of GC cycles. Raises MeasureError if a benchmark
    fails or runs no operations.
    """
    words = [binary.path, "-test.run=^$", *flags]
    variables = with_gctrace(tree.environment) if gctrace else tree.environment
    with tempfile.TemporaryDirectory(dir=os.path.dirname(binary.path)) as own:
        names = os.path.join(own, "out"), gctrace or os.path.join(own, "errors")
        with open(names[0], "wb") as out, open(names[1], "wb") as errors:
            ended = run(Program(words, binary.folder, variables), out, errors)
        with open(names[0], "rb") as file:
            printed = file.read(_MOST)
        # A program that exits while a benchmark panics, or a benchmark that calls
        # runtime.Goexit (testing.(*B).launch), may exit with status 0.
        if ended.status or _NOTHING_DONE.search(printed):
            raise _failed(tree, binary.package, ended.status, names)
        return printed, ended


def _failed(
    tree: Tree, package: str, status: int, names: tuple[str, str]
) -> MeasureError:
    said = []
    for name in names:
        with open(name, "rb") as file:
            said.append(file.read(_MOST))
    # gctrace lines, headers and results do not explain the failure.
    text = b"\n".join(
        line
        for part in said
        for line in without_gctrace(part).splitlines()
        if not _OF_OTHERS.match(line)
    )
    lines = here(tree, first_lines(text))
    marks = ("--- FAIL", "panic:", "fatal error:")
    reason = next((line for line in lines if line.startswith(marks)), "")
    if not status and not reason:
        reason = "a benchmark ended before its first iteration"
    if not reason:
        reason = lines[0] if lines and status > 0 else _ended(status)
    return MeasureError(
        f"{tree.checkout.label}: the benchmarks of {printable(package)} fail: "
        f"{reason.strip()}",
        lines,
    )


def without_gctrace(said: bytes) -> bytes:
    """Return a program's output without gctrace lines."""
    return _GCTRACE.sub(b"", said)


def _ended(status: int) -> str:
    return f"ended by signal {-status}" if status < 0 else f"exit status {status}"
