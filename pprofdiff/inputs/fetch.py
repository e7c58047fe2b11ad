"""Fetch all URLs at once, each with its own timeout, and save every answer.

A typed URL becomes a request as in `go tool pprof` (google/pprof
internal/driver/fetch.go; cmd/pprof/pprof.go, adjustURL). Copies are saved as a live
profile cannot be taken a second time.
"""

from __future__ import annotations

import base64
import contextlib
import ipaddress
import os
import queue
import re
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pprofdiff._version import __version__
from pprofdiff.errors import FetchError, PprofDiffError
from pprofdiff.inputs.decompression import (
    DEFAULT_MAX_SIZE,
    GZIP_MAGIC,
    decompress,
    shortened,
    too_large,
)
from pprofdiff.inputs.intake import take_bytes
from pprofdiff.inputs.places import is_host, without_login
from pprofdiff.inputs.recognition import Foreign
from pprofdiff.kinds import KINDS
from pprofdiff.units import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from http.client import HTTPResponse

    from pprofdiff.inputs.model import ReadOptions

_CPU = "/debug/pprof/profile"
_SERVER_SECONDS = {_CPU: 30.0, "/debug/pprof/trace": 1.0}  # net/http/pprof's defaults
_DEFAULT_TIMEOUT = 60.0
_GRACE = 5.0  # extra wait, as in pprof's HTTP client
_QUOTED = "%/:=&?~#+!$,;'@()*[]"
_CHUNK = 1 << 20
_REPLY = 4096
_MAX_COPIES = 10_000

_SUFFIX = {kind.id: kind.suffix for kind in KINDS.values()} | {
    Foreign.HTML: ".html",
    Foreign.JSON: ".json",
}


class Request(NamedTuple):
    """One URL, ready to be fetched."""

    url: str
    shown: str
    """The URL for messages: on one line, without anything that may be a password."""
    authorization: str | None
    seconds: float | None
    """How long the server will measure, None if unknown."""
    timeout: float


def request_for(url: str, options: ReadOptions) -> Request:
    """Return how to fetch `url`: default path, `seconds`, timeout, credentials.

    Raises FetchError: the URL cannot be parsed.
    """
    parts, problem = _split(url)
    if parts is None:
        escapes = "; write / ? # @ of a password as %2F %3F %23 %40" * ("@" in url)
        msg = f"{printable(without_login(url))}: not a URL ({problem}){escapes}"
        raise FetchError(msg)
    login, _, host = parts.netloc.rpartition("@")
    path = parts.path if parts.path not in ("", "/") else _CPU
    query = parts.query
    if options.seconds is not None:
        query = _with_seconds(query, options.seconds)
    asked = _seconds_in(query)
    usual = asked * 1.5 + _GRACE if asked else _DEFAULT_TIMEOUT
    bare = urllib.parse.urlunsplit((parts.scheme, host, path, query, ""))
    plain = is_host(host) and "@" not in f"{parts.path}{parts.query}{parts.fragment}"
    return Request(
        url=urllib.parse.quote(bare, safe=_QUOTED, errors="surrogateescape"),
        shown=printable(bare if plain else without_login(url)),
        authorization=_basic(login) if login else None,
        seconds=asked or _SERVER_SECONDS.get(path),
        timeout=options.timeout or usual,
    )


def _split(url: str) -> tuple[urllib.parse.SplitResult | None, str]:
    """Return a URL's parts, or None and the reason why it has none.

    Error messages of urllib are not used: they quote the URL, password included.
    """
    problem = "its host name cannot be parsed"
    with suppress(ValueError):
        url.encode("utf-8", "surrogateescape")
        parts = urllib.parse.urlsplit(url)
        problem = "its port is not a number from 0 to 65535"
        parts.port  # noqa: B018 - raises ValueError
        return parts, ""
    return None, problem


def _with_seconds(query: str, seconds: int) -> str:
    pairs = urllib.parse.parse_qsl(query, keep_blank_values=True)
    kept = [(key, value) for key, value in pairs if key != "seconds"]
    return urllib.parse.urlencode([*kept, ("seconds", str(seconds))])


def _seconds_in(query: str) -> float | None:
    """Return the positive, finite `seconds=` of a query, None if there is none."""
    values = urllib.parse.parse_qs(query).get("seconds", [""])
    try:
        seconds = float(values[0])
    except ValueError:
        return None
    return seconds if 0 < seconds < threading.TIMEOUT_MAX / 2 else None


def _basic(login: str) -> str:
    typed = login.encode("utf-8", "surrogateescape")
    token = base64.b64encode(urllib.parse.unquote_to_bytes(typed))
    return f"Basic {token.decode('ascii')}"


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
    try:
        answers.put((index, download(request, max_size)))
    except BaseException as error:  # noqa: BLE001 - raised again by fetch_all
        answers.put((index, error))


def _collect(
    requests: Sequence[Request],
    answers: queue.SimpleQueue[tuple[int, bytes | BaseException]],
    options: ReadOptions,
) -> list[Fetched | BaseException]:
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


def download(request: Request, max_size: int) -> bytes:
    """Return the body of the response to `request`.

    Raises FetchError: no connection, a status other than 200, a truncated body, or one
    of more than `max_size` bytes; the message includes the server's own words.
    """
    message = urllib.request.Request(  # noqa: S310 - the opener knows only http(s)
        request.url, headers={"User-Agent": f"pprofdiff/{__version__}"}
    )
    if request.authorization:
        message.add_unredirected_header("Authorization", request.authorization)
    try:
        with _opener(request).open(message, timeout=request.timeout) as response:
            if response.status != 200:
                raise FetchError(_refused(request, response))
            return _body(response, request, max_size)
    except urllib.error.HTTPError as error:
        with error:
            raise FetchError(_refused(request, error)) from None
    except (OSError, HTTPException, ValueError) as error:
        raise FetchError(f"{request.shown}: {_cause(error)}") from None


def _opener(request: Request) -> urllib.request.OpenerDirector:
    """Return an opener for http and https only, with certificate checks."""
    opener = urllib.request.OpenerDirector()
    # As in Go, a proxy from the environment is never used for this machine.
    proxies: dict[str, str] | None = {} if _is_loopback(request) else None
    for handler in (
        urllib.request.ProxyHandler(proxies),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.UnknownHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


def _is_loopback(request: Request) -> bool:
    host = urllib.parse.urlsplit(request.url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _body(response: HTTPResponse, request: Request, max_size: int) -> bytes:
    declared = response.headers.get("Content-Length", "")
    expected = int(declared) if declared.isdecimal() else None
    chunks: list[bytes] = []
    size = 0
    while expected is None or expected <= max_size:
        chunk = response.read1(_CHUNK)
        size += len(chunk)
        if size > max_size:
            break
        if not chunk:
            body = b"".join(chunks)
            if expected is not None and size < expected:
                text = f"{request.shown}: connection closed after {size} of {expected}"
                raise FetchError(f"{text} bytes; fetch it again")
            if response.headers.get("Content-Encoding", "") in ("gzip", "x-gzip"):
                return decompress(body, request.shown, max_size)
            return body
        chunks.append(chunk)
    raise FetchError(too_large(request.shown, max_size))


def _refused(request: Request, response: HTTPResponse | urllib.error.HTTPError) -> str:
    # The reason for a redirect that is not followed quotes the address.
    reason = re.sub(r"(?<=://)\S*@", "…@", str(response.reason))
    text = f"{request.shown}: server answered {response.status} {reason}"
    plain = response.headers.get("Content-Type", "").startswith("text/plain")
    if plain or response.headers.get("X-Go-Pprof"):
        reply = response.read(_REPLY).decode("utf-8", "replace").strip()
        if reply:
            text += f": {reply.splitlines()[0]}"
    return shortened(text, 500)


def _cause(error: Exception) -> str:
    import socket
    import ssl

    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    match reason:
        case ssl.SSLCertVerificationError():
            text = f"its certificate is not trusted ({reason.verify_message})"
        case ssl.SSLError():
            text = f"no TLS connection ({reason.reason}); does it serve plain http?"
        case ConnectionRefusedError():
            text = "connection refused; is the program running, and listening there?"
        case socket.gaierror():
            text = "no such host"
        case TimeoutError():
            text = "no answer in time; raise -timeout"
        case HTTPException():
            text = f"it does not speak HTTP ({type(reason).__name__})"
        case _:
            text = getattr(reason, "strerror", None) or str(reason)
    return printable(text)


def save(data: bytes, host: str, path: str, options: ReadOptions) -> str | None:
    """Save a copy of `data` and say where; return its path, or None on failure.

    The folder is the first writable one of `options.save_dir`, `$PPROF_TMPDIR`,
    `~/pprof` and the system's temporary folder. The name is `pprof.<host>.<last part of
    path>.NNN.<suffix>`; no file is overwritten.
    """
    stem = f"pprof.{_word(host)}.{_word(path.rstrip('/').rpartition('/')[2])}"
    problem = "no folder to save in"
    for folder in _folders(options.save_dir):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            saved = _write_new(folder, stem, _suffix(data), data)
        except OSError as error:
            problem = f"{printable(str(folder))}: {error.strerror or error}"
            options.say(f"Could not save a copy in {problem}")
            continue
        options.say(f"Saved {printable(str(saved))}")
        return str(saved)
    return None


def _folders(chosen: str | None) -> Iterator[Path]:
    if chosen is not None:
        yield Path(chosen)
    named = os.environ.get("PPROF_TMPDIR")
    if named:
        yield Path(named)
    with contextlib.suppress(RuntimeError):  # no home folder
        yield Path.home() / "pprof"
    import tempfile

    yield Path(tempfile.gettempdir())


def _write_new(folder: Path, stem: str, suffix: str, data: bytes) -> Path:
    for number in range(1, _MAX_COPIES):
        path = folder / f"{stem}.{number:03d}{suffix}"
        try:
            file = path.open("xb")
        except FileExistsError:
            continue
        try:
            with file:
                file.write(data)
        except BaseException:  # interrupts too: leave no partial copy
            path.unlink(missing_ok=True)
            raise
        return path
    raise FileExistsError(None, f"all names up to {stem}.{_MAX_COPIES - 1} are taken")


def _suffix(data: bytes) -> str:
    try:
        kind = take_bytes(data, "", DEFAULT_MAX_SIZE).kinds[0]
        suffix = _SUFFIX.get(kind, ".bin")
    except PprofDiffError:
        suffix = ".bin"
    return f"{suffix}.gz" if data.startswith(GZIP_MAGIC) else suffix


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", text).strip("_")[:60] or "data"
