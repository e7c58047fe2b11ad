"""From the URL that was typed to the request that is sent, as `go tool pprof` does.

See google/pprof internal/driver/fetch.go and cmd/pprof/pprof.go, adjustURL.
"""

from __future__ import annotations

import base64
import threading
import urllib.parse
from typing import TYPE_CHECKING, NamedTuple

from pprofdiff.errors import FetchError
from pprofdiff.units import printable

if TYPE_CHECKING:
    from pprofdiff.inputs.model import ReadOptions

_CPU = "/debug/pprof/profile"
_SERVER_SECONDS = {_CPU: 30.0, "/debug/pprof/trace": 1.0}  # net/http/pprof's defaults
_DEFAULT_TIMEOUT = 60.0
_GRACE = 5.0  # pprof's HTTP client waits this much longer, too
_QUOTED = "%/:=&?~#+!$,;'@()*[]"


class Request(NamedTuple):
    """One URL, ready to be fetched."""

    url: str
    shown: str
    """The URL for messages: no password, one line."""
    authorization: str | None
    seconds: float | None
    """How long the server will measure, None if not known."""
    timeout: float


def request_for(url: str, options: ReadOptions) -> Request:
    """Return how `url` is fetched: default path, `seconds`, timeout, credentials.

    Raises
    ------
    FetchError
        The URL cannot be parsed.

    """
    try:
        parts = urllib.parse.urlsplit(url)
        parts.port  # noqa: B018 - raises ValueError for a port out of range
    except ValueError as error:
        msg = f"{printable(url)}: not a URL ({printable(str(error))})"
        raise FetchError(msg) from None
    login, _, host = parts.netloc.rpartition("@")
    path = parts.path if parts.path not in ("", "/") else _CPU
    query = parts.query
    if options.seconds is not None:
        query = _with_seconds(query, options.seconds)
    asked = _seconds_in(query)
    usual = asked * 1.5 + _GRACE if asked else _DEFAULT_TIMEOUT
    bare = urllib.parse.urlunsplit((parts.scheme, host, path, query, ""))
    return Request(
        url=urllib.parse.quote(bare, safe=_QUOTED),
        shown=printable(bare),
        authorization=_basic(login) if login else None,
        seconds=asked or _SERVER_SECONDS.get(path),
        timeout=options.timeout or usual,
    )


def _with_seconds(query: str, seconds: int) -> str:
    pairs = urllib.parse.parse_qsl(query, keep_blank_values=True)
    kept = [(key, value) for key, value in pairs if key != "seconds"]
    return urllib.parse.urlencode([*kept, ("seconds", str(seconds))])


def _seconds_in(query: str) -> float | None:
    """Return the positive, finite `seconds=` of a query, None without one."""
    values = urllib.parse.parse_qs(query).get("seconds", [""])
    try:
        seconds = float(values[0])
    except ValueError:
        return None
    return seconds if 0 < seconds < threading.TIMEOUT_MAX / 2 else None


def _basic(login: str) -> str:
    token = base64.b64encode(urllib.parse.unquote_to_bytes(login))
    return f"Basic {token.decode('ascii')}"
