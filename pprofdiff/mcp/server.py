"""The server: its tools are commands of pprofdiff, its resources their pages and JSON.

Each call runs the command line in its own process. A tool's argument is the value of
one flag, or a path or ref without a leading dash, so it cannot become another flag.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Awaitable, Callable, Sequence
from functools import wraps
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resources import FileResource
from mcp.types import (
    CallToolResult,
    ContentBlock,
    ResourceLink,
    TextContent,
    ToolAnnotations,
)
from pydantic import Field

from pprofdiff._version import __version__
from pprofdiff.errors import PprofDiffError, UsageError
from pprofdiff.mcp.answer import Answer, Text, answer_of, text_of
from pprofdiff.mcp.folders import Folders
from pprofdiff.mcp.running import Finished, run
from pprofdiff.units import printable

_INSTRUCTIONS = """\
Compares two builds of a Go program: whether new is slower, by how much, why, and what
is not known. Marks: ▲ ▼ significantly more or less than base, ~ within noise, none: not
tested. "Can't tell" means that there is no evidence for a change or against it.
Start with compare if there are captures, else with measure, or with bisect to find a
commit. Give git where you can: causes then have lines and commits. Only files below
these folders are read and written:
"""

_FILES = {
    "page": ("report.html", "text/html"),
    "json": ("report.json", "application/json"),
}
# Flags of the report that need no other tool and name no file; the first have no value.
_SWITCHES = frozenset({"no-pairing", "normalize", "strict"})
_FLAGS = _SWITCHES | frozenset(
    """by focus group-by hide ignore max-size max-skipped pair-names rps same-within
    sample-index show show-from state tagfocus tagignore window work""".split()  # noqa: SIM905 - more compact
)
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)

Side = Annotated[str, Field(description="a file or a folder of captures")]
Tokens = Annotated[int, Field(description="length of the answer", ge=300, le=100_000)]
Git = Annotated[
    str, Field(description="BASE..NEW, the commits of both builds; names lines")
]
InRepository = Annotated[str, Field(description="the repository of git")]
Rules = Annotated[
    Sequence[str],
    Field(description="rules of a gate, such as total:+5% or bench:allocs/op:+0%"),
]
Save = Annotated[
    Sequence[str], Field(description="files to write: .html .md .json .csv .svg .pb.gz")
]
Module = Annotated[str, Field(description="a folder of a Go module")]
Packages = Annotated[Sequence[str], Field(description="such as ./...")]
Function = Annotated[str, Field(description="a regular expression for functions")]
Answered = Annotated[CallToolResult, Answer]
Listed = Annotated[CallToolResult, Text]


def serve(folders: Folders) -> None:
    """Serve on standard input and output until the client closes them."""
    # A folder in no repository must not count as part of a repository above it.
    above = os.pathsep.join(os.path.dirname(folder) for folder in folders.local)
    os.environ["GIT_CEILING_DIRECTORIES"] = above
    with TemporaryDirectory(prefix="pprofdiff-mcp-") as scratch:
        server_of(folders, scratch).run("stdio")


def server_of(folders: Folders, scratch: str) -> MCPServer:
    """Return a server for these folders, which keeps its reports in `scratch`."""
    listed = ", ".join((*folders.local, *folders.stores))
    server = MCPServer(
        "pprofdiff",
        version=__version__,
        instructions=f"{_INSTRUCTIONS}{listed}",
        log_level="WARNING",
    )
    tools = _Tools(folders, scratch, server)
    for read in (tools.compare, tools.list_lines, tools.explain, tools.fleet_steps):
        server.add_tool(_refusing(read), annotations=_READS)
    for timed in (tools.measure, tools.bisect):
        server.add_tool(_refusing(timed))
    return server


class _Tools:
    """The tools, and the reports that they made."""

    def __init__(self, folders: Folders, scratch: str, server: MCPServer) -> None:
        self._folders = folders
        self._scratch = scratch
        self._server = server
        self._numbers = count(1)
        # Two measurements at once would measure each other.
        self._measuring = anyio.Lock()

    async def compare(  # noqa: PLR0913 - what a client may give
        self,
        *,
        base: Side,
        new: Side,
        context: Context,
        git: Git = "",
        repository: InRepository = ".",
        fail_on: Rules = (),
        flags: Annotated[
            Sequence[str],
            Field(description="such as --work=BASE:NEW, --rps=BASE:NEW, --by=KEY"),
        ] = (),
        save: Save = (),
        max_tokens: Tokens = 2_000,
    ) -> Answered:
        """Say whether new is slower than base, by how much, why, and what is not known.

        Base and new are pprof profiles, execution traces, GC logs, benchmark output, or
        folders of these; or patterns (DIR/**/*.pb.gz) for the hosts of a fleet.
        """
        words = [*_flags(flags), *self._git(git, repository), *_rules(fail_on)]
        words += ["--", *self._sides(base, new)]
        return await self._report(words, save, context, max_tokens)

    async def measure(  # noqa: PLR0913 - what a client may give
        self,
        *,
        context: Context,
        repository: Module = ".",
        base: Annotated[str, Field(description="a ref (where new branched)")] = "",
        new: Annotated[str, Field(description="a ref (the working tree)")] = "",
        packages: Packages = (".",),
        bench: Annotated[str, Field(description="which benchmarks, as -bench=")] = ".",
        time: Annotated[str, Field(description="at most, such as 2m")] = "1m",
        fail_on: Rules = (),
        save: Save = (),
        keep: Annotated[
            str, Field(description="a new folder for the captures, to compare later")
        ] = "",
        max_tokens: Tokens = 2_000,
    ) -> Answered:
        """Build two refs, run their benchmarks in turns, and say what changed and why.

        It takes `time` and the builds, and leaves the repository as it is.
        """
        refs = [ref for ref in (base, new) if ref]
        if new and not base:
            raise UsageError("give base too: new alone names no second build")
        _no_flags(*refs, *packages)
        words = ["measure", *refs, f"--time={time}", *_rules(fail_on)]
        if keep:
            words.append(f"-o-runs={self._folders.output(keep)}")
        words += ["--", f"-bench={bench}", *packages]
        place = self._folders.repository(repository)
        return await self._measured(words, save, context, max_tokens, place)

    async def bisect(  # noqa: PLR0913 - likewise
        self,
        *,
        good: Annotated[str, Field(description="a ref before the change")],
        bad: Annotated[str, Field(description="a ref after it")],
        context: Context,
        repository: Module = ".",
        packages: Packages = (".",),
        bench: Annotated[
            str, Field(description="which benchmarks; none: all, at both ends first")
        ] = "",
        faster: Annotated[bool, Field(description="find what became faster")] = False,
        fail_on: Rules = (),
        time: Annotated[str, Field(description="at most, such as 20m")] = "30m",
        save: Save = (),
        max_tokens: Tokens = 2_000,
    ) -> Answered:
        """Find the commit between two refs that made benchmarks slower, and say why.

        With fail_on, it is the commit from which a rule trips. It builds and measures
        up to twice log2 of the commits.
        """
        _no_flags(good, bad, *packages)
        words = ["bisect", good, bad, f"--time={time}", *_rules(fail_on)]
        words += ["--faster"] if faster else []
        words += ["--", *([f"-bench={bench}"] if bench else []), *packages]
        place = self._folders.repository(repository)
        return await self._measured(words, save, context, max_tokens, place)

    async def list_lines(  # noqa: PLR0913 - what a client may give
        self,
        *,
        base: Side,
        new: Side,
        function: Function,
        context: Context,
        git: Git = "",
        repository: InRepository = ".",
        source: Annotated[
            str, Field(description="the folder of the source, instead of git")
        ] = "",
        max_tokens: Tokens = 2_000,
    ) -> Listed:
        """List the source of functions as a diff, each line with what it costs."""
        if bool(git) == bool(source):
            raise UsageError("give git (BASE..NEW) or source (a folder)")
        words = self._git(git, repository)
        if source:
            words.append(f"--source={self._folders.inside(source)}")
        words += [f"--list={function}", "--", *self._sides(base, new)]
        return await self._text(words, context, max_tokens)

    async def explain(
        self,
        *,
        base: Side,
        new: Side,
        function: Annotated[
            str, Field(description="a regular expression for functions or categories")
        ],
        context: Context,
        max_tokens: Tokens = 2_000,
    ) -> Listed:
        """Show the stacks of functions or of a category such as gc.mark.assist."""
        words = [f"--explain={function}", "--", *self._sides(base, new)]
        return await self._text(words, context, max_tokens)

    async def fleet_steps(
        self,
        *,
        profiles: Annotated[Sequence[str], Field(description="DIR/build=*/**")],
        context: Context,
        over: Annotated[str, Field(description="build or time")] = "build",
        every: Annotated[str, Field(description="the window of time: 15m")] = "",
        by: Annotated[str, Field(description="the part of paths for hosts")] = "",
        max_tokens: Tokens = 2_000,
    ) -> Listed:
        """Say at which build, or when, functions of a fleet changed their share."""
        words = [f"--over={over}"]
        words += [f"--every={every}"] if every else []
        words += [f"--by={by}"] if by else []
        kept = self._new_folder()
        words += [*_outputs(kept), "--", *map(self._folders.capture, profiles)]
        return await self._text(words, context, max_tokens, kept)

    async def _measured(
        self,
        words: Sequence[str],
        save: Sequence[str],
        context: Context,
        tokens: int,
        place: str,
    ) -> CallToolResult:
        """Run a command that measures, when no other one does."""
        if self._measuring.locked():
            await context.report_progress(0, message="waiting for another measurement")
        async with self._measuring:
            return await self._report(words, save, context, tokens, place)

    async def _report(
        self,
        words: Sequence[str],
        save: Sequence[str],
        context: Context,
        tokens: int,
        place: str = "",
    ) -> CallToolResult:
        """Run a command that makes a report, and return its answer."""
        kept = self._new_folder()
        brief = os.path.join(kept, "x.brief.json")
        saved = [f"-o={self._folders.output(file)}" for file in save]
        at = words.index("--")
        words = [*words[:at], "-q", f"-o={brief}", *_outputs(kept), *saved, *words[at:]]
        done = await self._run(words, context, place)
        if not os.path.exists(brief):
            raise done.error
        found = json.loads(await anyio.Path(brief).read_bytes())
        notes = (one for one in done.notes if one not in found["not_known"])
        found["not_known"] += notes
        links = await self._links(kept, context)
        uris = {link.name: str(link.uri) for link in links}
        return _result(answer_of(found, uris, tokens), links)

    async def _text(
        self, words: Sequence[str], context: Context, tokens: int, kept: str = ""
    ) -> CallToolResult:
        """Run a command that prints, and return what it printed."""
        done = await self._run(words, context)
        if done.status and not done.text:
            raise done.error
        links = await self._links(kept, context) if kept else []
        uris = {link.name: str(link.uri) for link in links}
        return _result(text_of(done.text, uris, tokens), links)

    async def _run(
        self, words: Sequence[str], context: Context, place: str = ""
    ) -> Finished:
        steps = count(1)

        async def say(message: str) -> None:
            await context.report_progress(next(steps), message=message)

        place = place or self._folders.local[0]
        return await run(words, place, self._scratch, say)

    async def _links(self, kept: str, context: Context) -> list[ResourceLink]:
        """Offer the page and the JSON of a report as resources."""
        links = []
        number = os.path.basename(kept)
        for name, (file, kind) in _FILES.items():
            path = Path(kept, file)
            if not path.exists():
                continue
            uri = f"pprofdiff://reports/{number}/{name}"
            self._server.add_resource(
                FileResource(
                    uri=uri,
                    name=f"{name} of report {number}",
                    mime_type=kind,
                    path=path,
                    encoding="utf-8",
                )
            )
            links.append(ResourceLink(uri=uri, name=name, mime_type=kind))
        await context.notify_resources_changed()
        return links

    def _new_folder(self) -> str:
        folder = os.path.join(self._scratch, str(next(self._numbers)))
        os.mkdir(folder)
        return folder

    def _git(self, git: str, repository: str) -> list[str]:
        if not git:
            return []
        return [f"--git={git}", f"--repo={self._folders.repository(repository)}"]

    def _sides(self, base: str, new: str) -> list[str]:
        return [self._folders.capture(base), self._folders.capture(new)]


def _refusing(
    tool: Callable[..., Awaitable[CallToolResult]],
) -> Callable[..., Awaitable[CallToolResult]]:
    """Return a tool whose errors reach the client with their text."""

    @wraps(tool)
    async def call(**arguments: Any) -> CallToolResult:  # noqa: ANN401 - the tool's own
        try:
            return await tool(**arguments)
        except PprofDiffError as error:
            raise ToolError(str(error)) from None

    return call


def _flags(words: Sequence[str]) -> list[str]:
    """Return flags of the report; raises UsageError for any other word."""
    for word in words:
        flag = re.fullmatch(r"--?([a-z][a-z_-]*)(=.*)?", word, re.DOTALL)
        name = flag[1].replace("_", "-") if flag else ""
        if flag is None or name not in _FLAGS:
            allowed = ", ".join(f"--{one}" for one in sorted(_FLAGS))
            raise UsageError(f"{printable(word)!r} is none of the flags: {allowed}")
        if flag[2] is None and name not in _SWITCHES:
            # It would take the next word as its value.
            raise UsageError(f"--{name} needs a value: --{name}=…")
    return list(words)


def _no_flags(*words: str) -> None:
    """Refuse refs and packages that would be read as flags."""
    for word in words:
        if not word or word.startswith("-"):
            raise UsageError(f"{printable(word)!r} is neither a ref nor a package")


def _outputs(folder: str) -> list[str]:
    """Return the flags that write the files of a report's resources."""
    return [f"-o={os.path.join(folder, name)}" for name, _ in _FILES.values()]


def _rules(rules: Sequence[str]) -> list[str]:
    return [f"--fail-on={rule}" for rule in rules]


def _result(answer: Answer | Text, links: Sequence[ResourceLink]) -> CallToolResult:
    """Return an answer as JSON, for clients with structured content and without."""
    text = json.dumps(answer, ensure_ascii=False)
    content: list[ContentBlock] = [TextContent(type="text", text=text), *links]
    return CallToolResult(content=content, structured_content=dict(answer))
