"""``pprofdiff mcp``: its arguments; the server is `pprofdiff.mcp`."""

from __future__ import annotations

from importlib.util import find_spec

from pprofdiff.cli.arguments import folded
from pprofdiff.cli.screen import Screen
from pprofdiff.errors import UsageError
from pprofdiff.units import printable

_HELP = """\
usage: pprofdiff mcp DIR...

Serve pprofdiff to an agent, by the Model Context Protocol on standard input and output
(pip install 'pprofdiff[mcp]'). Tools: compare, measure, bisect, list_lines, explain
and fleet_steps. An answer is what the report says: verdict, causes with their lines,
and what is not known, within a number of tokens; the page and JSON are resources.

It reads and writes only below the folders given, but for its own temporary folder, Go's
source and Go's caches. A store such as s3://bucket/profiles may be among them, to read
fleets; relative names are in the first folder. measure and bisect build and run the
code of repositories below them, with your rights; no tool runs any other command.

Example, as most clients take it:
  {"mcpServers": {"pprofdiff": {"command": "pprofdiff", "args": ["mcp", "/src/shop"]}}}
"""


def run_mcp(words: list[str], screen: Screen) -> int:
    """Serve until the client leaves; return the exit status."""
    if {"--help", "-help", "-h"} & set(words):
        screen.write(folded(_HELP, screen.width()))
        return 0
    for word in words:
        if word.startswith("-"):
            raise UsageError(f"mcp: {printable(word)}: give folders; see mcp --help")
    if find_spec("mcp") is None:
        raise UsageError("mcp: needs more: pip install 'pprofdiff[mcp]'")
    from pprofdiff.mcp.folders import Folders
    from pprofdiff.mcp.server import serve

    serve(Folders.of(words))
    return 0
