"""Send one HTTP request and return the body, or explain why there is none."""

from __future__ import annotations

import ipaddress
import re
import urllib.error
import urllib.parse
import urllib.request
from http.client import HTTPException
from typing import TYPE_CHECKING

from pprofdiff._version import __version__
from pprofdiff.errors import FetchError
from pprofdiff.inputs.gunzip import decompress
from pprofdiff.inputs.wording import shortened, too_large
from pprofdiff.units import printable

if TYPE_CHECKING:
    from http.client import HTTPResponse

    from pprofdiff.inputs.urls import Request

_CHUNK = 1 << 20
_REPLY = 4096


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
    """Return the message for a status other than 200, with the server's first line."""
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
    """Return a description of why nothing was received."""
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
