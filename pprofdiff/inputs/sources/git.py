"""Read a git repository without touching its work tree or running its programs.

Everything that a repository or a user's configuration could make git run is disabled:
file system monitors, hooks, external diff, text conversion, signature checks. Refs are
resolved to commit ids first; no other user input reaches git. Only `Repository.export`
and `Repository.with_work_tree` run filters such as git-lfs: a build needs the files as
checked out.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import cached_property
from threading import Timer
from typing import IO

from pprofdiff.errors import UsageError
from pprofdiff.model.source import Commit, Hunk, Revision
from pprofdiff.units import printable

_SAFE = (
    *("-c", "core.fsmonitor=", "-c", "diff.external="),
    *("-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false"),
    *("-c", "core.quotePath=false", "-c", "protocol.allow=never"),
    # Either would make git write files next to the user's index.
    *("-c", "core.splitIndex=false", "-c", "core.untrackedCache=false"),
)
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "LC_ALL": "C",
}
_NOBODY = {
    f"GIT_{who}_{what}": "pprofdiff"
    for who in ("AUTHOR", "COMMITTER")
    for what in ("NAME", "EMAIL")
}
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color")
# In a git hook, these point to the hook's repository and its parts.
OF_A_HOOK = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
# Output limit in bytes: longer than a listing of two million files.
_MOST = 1 << 28
_SECONDS = 60.0
# A checkout of that many files may take this long.
_EXPORT_SECONDS = 1_800.0
_DEEPEN = "git fetch --unshallow, or fetch-depth: 0 of actions/checkout"
_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_SUBMODULE = "160000"
# If nothing names the default branch, it is the first of these that exists.
_DEFAULTS = (
    "refs/heads/main",
    "refs/heads/master",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
)


class GitError(Exception):
    """A git command failed; the text is the first line of its error output."""


class Repository:
    """The git repository that contains a folder."""

    def __init__(self, folder: str, asking: str = "--git") -> None:
        """Check that there is one; raises UsageError with advice.

        `asking` is the flag or command that messages begin with. `not_committed` is the
        commit made by `with_work_tree`, and `objects` locates its objects.
        """
        self.folder = folder or "."
        self._named = bool(folder)
        self._asking = asking
        self.objects: dict[str, str] = {}
        self.not_committed = ""
        try:
            self._run("rev-parse", "--git-dir")
        except GitError as error:
            where = printable(self.folder)
            how = "--repo DIR names one" if asking == "--git" else "go to one"
            raise UsageError(
                f"{asking}: {where} is not in a git repository that can be read "
                f"({error}); {how}"
            ) from None

    def commit(self, ref: str) -> str:
        """Return the id of the commit that a ref names; raises UsageError."""
        named = printable(ref)
        if not ref or ref.startswith("-") or "\0" in ref:
            raise UsageError(f"{self._asking}: {named!r} is not a ref")
        try:
            output = self._run(
                *("rev-parse", "--verify", "--quiet", "--end-of-options"),
                f"{ref}^{{commit}}",
            )
        except GitError:
            raise UsageError(self._no_ref(named)) from None
        return output.decode("ascii", "replace").split()[-1]

    def _no_ref(self, named: str) -> str:
        if shallow := self._shallow():
            return f"{self._asking}: there is no {named} here{shallow}"
        return (
            f"{self._asking}: there is no commit {named} in the repository; "
            "see git log --all"
        )

    def _shallow(self) -> str:
        """Return what to add to a message if the clone is shallow, else ""."""
        shallow = self._run("rev-parse", "--is-shallow-repository").strip() == b"true"
        return f", as the clone is shallow; {_DEEPEN}" if shallow else ""

    def top(self) -> str:
        """Return the root of the work tree; raises UsageError in a bare repository."""
        try:
            return self._path("--show-toplevel")
        except GitError as error:
            raise UsageError(f"{self._asking}: {error}") from None

    def storage(self) -> str:
        """Return the folder of objects and refs, which may be another checkout's."""
        return self._path("--path-format=absolute", "--git-common-dir")

    def prefix(self) -> str:
        """Return the folder's path from the root of the work tree, "" for the root."""
        return self._path("--show-prefix").rstrip("/")

    def _path(self, *words: str) -> str:
        output = self._run("rev-parse", *words)
        return output.decode("utf-8", "surrogateescape").removesuffix("\n")

    def default_branch(self) -> str | None:
        """Return the full name of the default branch, if there is one."""
        with suppress(GitError):
            output = self._run("symbolic-ref", "--quiet", "refs/remotes/origin/HEAD")
            name = output.decode("utf-8", "surrogateescape").strip()
            if self._has(name):
                return name
        return next((name for name in _DEFAULTS if self._has(name)), None)

    def _has(self, name: str) -> bool:
        try:
            self._run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        except GitError:
            return False
        return True

    def merge_base(self, one: str, other: str) -> str:
        """Return the merge base of two commits; raises UsageError if there is none."""
        try:
            return self._run("merge-base", one, other).decode("ascii").split()[0]
        except GitError:
            raise UsageError(
                f"{self._asking}: {one[:9]} and {other[:9]} have no common commit"
                f"{self._shallow()}"
            ) from None

    def changed(self) -> int:
        """Return how many files of the work tree differ from the last commit."""
        output = self._run("status", "--porcelain", "-z", "--no-renames")
        return sum(1 for entry in output.split(b"\0") if entry)

    def files(self) -> tuple[str, ...]:
        """Return the paths of the work tree's files from its root, except ignored ones.

        They include submodules and tracked files that were deleted.
        """
        words = "ls-files", "-z", "--cached", "--others", "--exclude-standard"
        output = self._run("-C", self.top(), *words)
        paths = (path for path in output.split(b"\0") if path)
        return tuple(dict.fromkeys(p.decode("utf-8", "surrogateescape") for p in paths))

    def submodules(self, commit: str) -> tuple[tuple[str, str], ...]:
        """Return (path, commit) of each submodule of a commit."""
        listed = self.listing(commit)
        return tuple((path, own) for mode, own, path in listed if mode == _SUBMODULE)

    def export(self, commit: str, folder: str) -> None:
        """Write a commit's files, without submodules, to a new folder; raises GitError.

        Uses a separate index: ``git archive`` leaves out what attributes exclude.
        """
        target = os.path.join(os.path.abspath(folder), "")
        os.makedirs(target)
        # In the parent folder, which the caller cleans up.
        siblings = os.path.dirname(os.path.dirname(target))
        with tempfile.TemporaryDirectory(dir=siblings) as own:
            index = {"GIT_INDEX_FILE": os.path.join(own, "index")}
            top = self.top()
            self._run("-C", top, "read-tree", commit, more=index)
            words = "checkout-index", "--all", "--quiet", f"--prefix={target}"
            self._run("-C", top, *words, more=index, seconds=_EXPORT_SECONDS)

    def with_work_tree(self, folder: str) -> tuple[Repository, str]:
        """Return a repository that has the work tree as a commit too, and its id.

        Its objects go to a new folder, so nothing is written to the repository; query
        results leave out this commit. Raises GitError.
        """
        objects = os.path.join(os.path.abspath(folder), "objects")
        os.makedirs(objects)
        own = self._path("--git-path", "objects")
        own = os.path.abspath(os.path.join(self.folder, own))
        known = os.environ.get("GIT_ALTERNATE_OBJECT_DIRECTORIES")
        found = copy(self)
        found.objects = {
            "GIT_OBJECT_DIRECTORY": objects,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.pathsep.join(
                filter(None, (_quoted(own), known))
            ),
        }
        found.not_committed = found.committed(folder)
        return found, found.not_committed

    def committed(self, folder: str) -> str:
        """Return the id of a new commit of the work tree, on top of the last one.

        Its index goes to `folder`; no ref points to it. Raises GitError.
        """
        index = {"GIT_INDEX_FILE": os.path.join(os.path.abspath(folder), "index")}
        top = self.top()
        with tempfile.TemporaryFile() as staged:
            staged.write(self._run("-C", top, "ls-files", "--stage", "-z"))
            staged.seek(0)
            words = "update-index", "-z", "--index-info"
            self._run("-C", top, *words, more=index, given=staged)
        self._run("-C", top, "add", "--all", more=index, seconds=_EXPORT_SECONDS)
        tree = self._run("-C", top, "write-tree", more=index).decode().strip()
        made = "commit-tree", tree, "-p", "HEAD", "-m", "not committed"
        return self._run("-C", top, *made, more=_NOBODY).decode().strip()

    def hunks(self, base: str, new: str) -> tuple[Hunk, ...]:
        """Return the differences between two blobs, given by id."""
        words = "-U0", "--inter-hunk-context=0", "--text"
        output = self._run("diff", *_PLAIN, *words, base, new)
        return tuple(
            Hunk(*(1 if part is None else int(part) for part in found.groups()))
            for found in _HUNK.finditer(output)
        )

    @cached_property
    def _at_root(self) -> tuple[str, str]:
        with suppress(UsageError):
            return "-C", self.top()
        # A bare repository has no work tree to change to.
        return "-C", "."

    def history(
        self, span: tuple[str, str], *, first_parent: bool
    ) -> tuple[Revision, ...]:
        """Return the start of a span and its commits, each after its parents.

        With `first_parent`, only those on the branch of the span's end.
        """
        words = "log", *_PLAIN, "-s", "-z", "--format=%H%n%P%n%an%n%aI%n%s"
        follow = ("--first-parent",) if first_parent else ()
        ordered = "--topo-order", "--reverse"
        texts = (
            self._run(*self._at_root, *words, "-1", span[0], "--"),
            self._run(*self._at_root, *words, *ordered, *follow, "..".join(span), "--"),
        )
        found = []
        for entry in b"\0".join(texts).decode("utf-8", "replace").split("\0"):
            if entry:
                own, parents, author, date, subject = entry.split("\n", 4)
                of = tuple(parents.split()[: 1 if first_parent else None])
                found.append(Revision(own, of, author, date, subject.strip()))
        return tuple(found)

    def commits(
        self, span: tuple[str, str], most: int, paths: tuple[str, ...] = ()
    ) -> tuple[Commit, ...]:
        """Return the newest commits of a span, those that touched `paths` if any."""
        words = "log", *_PLAIN, "-s", "--format=%H %s", f"-{most + 1}"
        of = "..".join(span), "--", *paths
        found = _commits(self._run(*self._at_root, *words, *of))
        return tuple(one for one in found if one.id != self.not_committed)[:most]

    def commits_of(
        self, span: tuple[str, str], path: str, start: int, count: int
    ) -> tuple[Commit, ...]:
        """Return the commits of a span that wrote these lines of a path at its end.

        If ``git blame`` fails, as without a configured list of commits to ignore, these
        are all commits that touched the lines.
        """
        lines = f"{start},+{count}"
        try:
            output = self._run(
                *self._at_root,
                *("blame", "--no-textconv", "--porcelain"),
                *("-L", lines, "..".join(span), "--", path),
            ).decode("utf-8", "replace")
        except GitError:
            words = *("log", *_PLAIN, "-s", "--format=%H"), "..".join(span)
            touched = self._run(*self._at_root, *words, f"-L{lines}:{path}")
            return self._described(span, touched.decode("ascii").split())
        ids = re.findall(r"^([0-9a-f]{40,64}) \d+ \d+", output, re.MULTILINE)
        before = set(_boundaries(output))
        return self._described(span, (i for i in ids if i not in before))

    def commits_without(
        self, span: tuple[str, str], paths: tuple[str, ...], text: str
    ) -> tuple[Commit, ...]:
        """Return the commits of a span that changed the count of `text` in `paths`."""
        output = self._run(
            *(*self._at_root, "log", *_PLAIN, "-s", "--format=%H", f"-S{text}"),
            *("..".join(span), "--", *paths),
        )
        return self._described(span, output.decode("ascii", "replace").split())

    def _described(
        self, span: tuple[str, str], ids: Iterable[str]
    ) -> tuple[Commit, ...]:
        wanted = set(ids) - {self.not_committed}
        if not wanted:
            return ()
        output = self._run(
            *("log", "--topo-order", "-s", "--format=%H %s"),
            *(*sorted(wanted), f"^{span[0]}", "--"),
        )
        return tuple(commit for commit in _commits(output) if commit.id in wanted)

    def blobs(self, blobs: Sequence[str], most: int) -> list[bytes | None]:
        """Return the bytes of blobs, None if over `most` bytes or missing."""
        known = self._asked("--batch-check=%(objectsize)", blobs).split(b"\n")
        sizes = {
            blob: int(size)
            for blob, size in zip(blobs, known, strict=False)
            if size.isdigit() and int(size) <= most
        }
        read: dict[str, bytes] = {}
        for some in _parts(sizes, max(_MOST // 2, most)):
            output, at = self._asked("--batch=", some), 0
            for blob in some:
                # Skip the rest of the header line, and the newline after the bytes.
                at += 1
                read[blob] = output[at : at + sizes[blob]]
                at += sizes[blob] + 1
        return [read.get(blob) for blob in blobs]

    def _asked(self, how: str, blobs: Iterable[str]) -> bytes:
        with tempfile.TemporaryFile() as asked:
            asked.write("".join(f"{blob}\n" for blob in blobs).encode())
            asked.seek(0)
            return self._run("cat-file", how, given=asked)

    def listing(self, commit: str) -> list[tuple[str, str, str]]:
        """Return mode, id and path of all that ``git ls-tree`` lists of a commit."""
        output = self._run("ls-tree", "-r", "-z", "--full-tree", commit)
        listed = []
        for entry in output.split(b"\0"):
            head, tab, path = entry.partition(b"\t")
            if tab:
                mode, _, own = head.decode("ascii").split()
                listed.append((mode, own, path.decode("utf-8", "surrogateescape")))
        return listed

    def _run(
        self,
        *words: str,
        more: Mapping[str, str] | None = None,
        seconds: float = _SECONDS,
        given: IO[bytes] | None = None,
    ) -> bytes:
        """Return a git command's output; raises GitError, or UsageError without git.

        The command is killed after `seconds`, or if it prints more than any caller can
        need. `more` is added to its environment, `given` is its standard input.
        """
        command = ["git", "--no-pager", *_SAFE, "-C", self.folder, *words]
        with tempfile.TemporaryFile() as complaints:
            try:
                process = subprocess.Popen(  # noqa: S603 - a list of words, no shell
                    command,
                    stdin=given or subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=complaints,
                    env={
                        **self._inherited(),
                        **_ENVIRONMENT,
                        **self.objects,
                        **(more or {}),
                    },
                )
            except (OSError, ValueError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                raise UsageError(
                    f"{self._asking}: git cannot be started: {reason}"
                ) from None
            with process:
                timer = Timer(seconds, process.kill)
                # An interrupt during start-up must not wait for the timer.
                timer.daemon = True
                try:
                    timer.start()
                    output = process.stdout.read(_MOST + 1) if process.stdout else b""
                    if len(output) > _MOST:
                        process.kill()
                    process.wait()
                except BaseException:
                    process.kill()
                    process.wait()
                    raise
                finally:
                    timer.cancel()
            if process.returncode == 0 and len(output) <= _MOST:
                return output
            complaints.seek(0)
            lines = complaints.read(4_000).decode("utf-8", "replace").splitlines()
        raise GitError(printable(lines[0]) if lines else f"git {words[0]} failed")

    def _inherited(self) -> dict[str, str]:
        """Return the environment, without a hook's variables if a folder was named."""
        left = {"GIT_EXTERNAL_DIFF", *(OF_A_HOOK if self._named else ())}
        return {name: text for name, text in os.environ.items() if name not in left}


def _commits(output: bytes) -> list[Commit]:
    lines = output.decode("utf-8", "replace").split("\n")
    return [Commit(*line.partition(" ")[::2]) for line in lines if line]


def _parts(sizes: Mapping[str, int], most: int) -> Iterator[list[str]]:
    """Yield groups of names with total size at most `most`, or a single larger one."""
    part: list[str] = []
    whole = 0
    for name, size in sizes.items():
        if part and whole + size > most:
            yield part
            part, whole = [], 0
        part.append(name)
        whole += size
    if part:
        yield part


def _quoted(path: str) -> str:
    """Return a path as git reads it from a list, quoted if it has a separator."""
    if os.pathsep not in path and not path.startswith('"'):
        return path
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _boundaries(porcelain: str) -> list[str]:
    before, current = [], ""
    for line in porcelain.split("\n"):
        heading = re.match(r"([0-9a-f]{40,64}) \d+ \d+", line)
        if heading:
            current = heading[1]
        elif line == "boundary":
            before.append(current)
    return before
