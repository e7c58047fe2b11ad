"""Run the command line in a process of its own, which can be cancelled."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

import anyio
from anyio.abc import Process

from pprofdiff.errors import PprofDiffError

# How long a process may take to end what it started and to remove its files.
_GRACE_S = 20.0
# Lines of the error output that a failure quotes: a build prints many.
_QUOTED = 20
_MESSAGE = "pprofdiff: "


class Finished(NamedTuple):
    """What a run printed, and the lines of its error output."""

    status: int
    text: str
    messages: tuple[str, ...]

    @property
    def notes(self) -> list[str]:
        """Its messages, without progress."""
        said = (line for line in self.messages if line.startswith(_MESSAGE))
        return [line.removeprefix(_MESSAGE).removeprefix("warning: ") for line in said]

    @property
    def error(self) -> PprofDiffError:
        """Why there is no report, with the end of what a failed build printed."""
        said = [line for line in self.messages if line.startswith((_MESSAGE, "  "))]
        last = said[-_QUOTED:] or [f"ended with status {self.status}"]
        return PprofDiffError("\n".join(line.removeprefix(_MESSAGE) for line in last))


async def run(
    words: Sequence[str],
    folder: str,
    scratch: str,
    say: Callable[[str], Awaitable[None]],
) -> Finished:
    """Run ``pprofdiff WORDS`` in a folder and return what it printed.

    `say` gets each line of progress. On cancellation the process and all that it
    started end, as with Ctrl-C.
    """
    process = await anyio.open_process(
        # -P: no module is imported from the folder.
        [sys.executable, "-P", "-m", "pprofdiff", *words],
        stdin=subprocess.DEVNULL,
        cwd=folder,
        env={
            **os.environ,
            "PPROFDIFF_PROGRESS": "lines",
            "PYTHONIOENCODING": "utf-8",
            "TMPDIR": scratch,
        },
        start_new_session=True,
    )
    out: list[bytes] = []
    messages: list[str] = []
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_gather, process, out)
            await _follow(process, messages, say)
        status = await process.wait()
    except BaseException:
        with anyio.CancelScope(shield=True):
            await _end(process)
        raise
    finally:
        with anyio.CancelScope(shield=True):
            await process.aclose()
    return Finished(status, b"".join(out).decode(), tuple(messages))


async def _gather(process: Process, out: list[bytes]) -> None:
    if process.stdout is not None:
        out += [data async for data in process.stdout]


async def _follow(
    process: Process, messages: list[str], say: Callable[[str], Awaitable[None]]
) -> None:
    """Keep the error output, and pass on each line of it that is no message."""
    left = b""
    if process.stderr is None:
        return
    async for data in process.stderr:
        *lines, left = (left + data).split(b"\n")
        for line in lines:
            messages.append(line.decode("utf-8", "replace"))
            if not messages[-1].startswith(_MESSAGE):
                await say(messages[-1].strip())


async def _end(process: Process) -> None:
    """End a process, and all of its group if it does not end by itself."""
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    with anyio.move_on_after(_GRACE_S):
        await process.wait()
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        with suppress(ProcessLookupError):
            process.kill()
