"""Fetch all URLs at once, each with its own timeout, and save every answer."""

from __future__ import annotations

import queue
import threading
import time
import urllib.parse
from typing import TYPE_CHECKING, NamedTuple

from pprofdiff.errors import FetchError, PprofDiffError
from pprofdiff.inputs.download import download
from pprofdiff.inputs.saving import save

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pprofdiff.inputs.model import ReadOptions
    from pprofdiff.inputs.urls import Request


class Fetched(NamedTuple):
    """The data that a URL returned, and the path of its copy."""

    request: Request
    data: bytes
    saved_to: str | None


def fetch_all(requests: Sequence[Request], options: ReadOptions) -> list[Fetched]:
    """Fetch all requests at once and save copies; return the results in order.

    After a failure, the others are still awaited and saved: what they measured cannot
    be measured again. Raises FetchError for the first request, in order, that failed.
    """
    answers: queue.SimpleQueue[tuple[int, bytes | BaseException]] = queue.SimpleQueue()
    for index, request in enumerate(requests):
        length = f" ({request.seconds:g} s)" if request.seconds else ""
        options.say(f"Fetching {request.shown}{length}")
        threading.Thread(
            target=_answer,
            args=(answers, index, request, options.max_size),
            daemon=True,
        ).start()
    results = _collect(requests, answers, options)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if isinstance(result, Fetched)]


def _answer(
    answers: queue.SimpleQueue[tuple[int, bytes | BaseException]],
    index: int,
    request: Request,
    max_size: int,
) -> None:
    """Put the response to `request`, or its error, into `answers`."""
    try:
        answers.put((index, download(request, max_size)))
    except BaseException as error:  # noqa: BLE001 - raised again by fetch_all
        answers.put((index, error))


def _collect(
    requests: Sequence[Request],
    answers: queue.SimpleQueue[tuple[int, bytes | BaseException]],
    options: ReadOptions,
) -> list[Fetched | BaseException]:
    """Await each request's answer or timeout; save every answer on arrival."""
    results: dict[int, Fetched | BaseException] = {}
    started = time.monotonic()
    while len(results) < len(requests):
        waiting = [i for i in range(len(requests)) if i not in results]
        first = min(waiting, key=lambda i: requests[i].timeout)
        left = started + requests[first].timeout - time.monotonic()
        try:
            index, answer = answers.get(timeout=max(left, 0))
        except queue.Empty:
            slow = requests[first]
            why = f"no complete answer within {slow.timeout:g} s; raise -timeout"
            index, answer = first, FetchError(f"{slow.shown}: {why}")
        if index in results:  # answered after its timeout
            continue
        if isinstance(answer, bytes):
            results[index] = _saved(requests[index], answer, options)
        else:
            results[index] = answer
            if len(waiting) > 1 and isinstance(answer, PprofDiffError):
                options.say(f"{answer}; waiting for the other inputs to save them")
    return [results[i] for i in range(len(requests))]


def _saved(request: Request, data: bytes, options: ReadOptions) -> Fetched:
    parts = urllib.parse.urlsplit(request.shown)
    return Fetched(request, data, save(data, parts.netloc, parts.path, options))
