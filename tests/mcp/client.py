"""The SDK's client, connected to a server of its own by standard input and output."""

from __future__ import annotations

import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters, stdio_client

ROOT = Path(__file__).parents[2]


@asynccontextmanager
async def connected(*folders, **environment):
    """Yield a client of ``pprofdiff mcp FOLDERS``."""
    settings = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    words = ["-W", "error::UserWarning", "-m", "pprofdiff", "mcp", *map(str, folders)]
    server = StdioServerParameters(command=sys.executable, args=words, env=settings)
    async with Client(stdio_client(server)) as client:
        yield client


def answers(folders, *calls):
    """Return what a server answers to calls, each a tool and its arguments."""

    async def ask():
        async with connected(*folders) as client:
            return [await client.call_tool(name, given) for name, given in calls]

    return anyio.run(ask)


def answer(folders, tool, **arguments):
    """Return the answer of one call, which must succeed."""
    (result,) = answers(folders, (tool, arguments))
    assert not result.is_error, result.content
    return result.structured_content
