"""Turn a typed URL into the request to send, as `go tool pprof` does.

See google/pprof internal/driver/fetch.go and cmd/pprof/pprof.go, adjustURL.
"""

from __future__ import annotations

import base64
import threading
import urllib.parse
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from pprofdiff.errors import FetchError
from pprofdiff.inputs.places import is_host, without_login
from pprofdiff.units import printable

if TYPE_CHECKING:
    from pprofdiff.inputs.model import ReadOptions

_CPU = "/debug/pprof/profile"
_SERVER_SECONDS = {_CPU: 30.0, "/debug/pprof/trace": 1.0}  # net/http/pprof's defaults
_DEFAULT_TIMEOUT = 60.0
_GRACE = 5.0  # extra wait, as in pprof's HTTP client
_QUOTED = "%/:=&?~#+!$,;'@()*[]"


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
