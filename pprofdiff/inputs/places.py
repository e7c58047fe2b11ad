"""Resolve an argument to a file, folder, URL or standard input, and its label."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable
from enum import Enum, auto
from typing import NamedTuple

from pprofdiff.errors import FetchError, UsageError
from pprofdiff.units import printable

STDIN = "-"

_SCHEME = r"([A-Za-z][A-Za-z0-9+.-]*)://"
# A host and a numeric port, then a path, a query or nothing: not every colon.
_HOST_PORT = r"(?:\[[0-9A-Fa-f:.]+\]|[^/\\:=@?#\s]+):\d{1,5}(?:[/?#]|$)"
_NEIGHBOURS = 2000

_URL_BEGINS = r"(?:[^?:#@]*=)?[A-Za-z][A-Za-z0-9+.-]*://"
# The host and port of a URL, after the scheme or the user's name.
_HOST = r"(?:[\w.-]*|\[[0-9A-Fa-f:.]*(?:%[\w.-]+)?\])(?::\d*)?"
# A URL with a user name but no scheme; not a Windows path.
_LOGIN = re.compile(
    r"\A(?![A-Za-z]:[\\/])(?:.*:.*(?:@|%40)|.*@(?=[^/\\]*:\d+(?:[/?#]|$)))", re.DOTALL
)


class Sort(Enum):
    """Where the bytes come from."""

    FILE = auto()
    FOLDER = auto()
    URL = auto()
    STDIN = auto()


class Place(NamedTuple):
    """A resolved argument."""

    argument: str
    label: str | None
    sort: Sort
    target: str
    """The path, or the URL with its scheme."""


def locate(argument: str) -> Place:
    """Resolve `argument`: an existing path wins, then `label=`, then a URL.

    Raises FetchError: it names nothing that exists; the message suggests the nearest
    name. Raises UsageError: it is empty, or a URL that is neither http nor https.
    """
    if not argument:
        msg = "an input's name is empty; give a file, a folder, a URL or -"
        raise UsageError(msg)
    named = _sort(argument)
    if named is not None:
        return Place(argument, None, *named)
    label, equals, rest = argument.partition("=")
    if equals and is_label(label):
        if not rest:
            msg = f"{displayed(argument)}: no path after the label"
            raise UsageError(msg)
        named = _sort(rest)
        if named is not None:
            return Place(argument, label, *named)
        if not re.search(r"[/\\]", label):
            raise FetchError(_missing(rest))
    raise FetchError(_missing(argument))


def of_fleet(argument: str) -> bool:
    """Return whether `argument` names many objects, or a store other than http(s).

    Examples are ``**/*.pb.gz``, ``@FILE`` for a list, and ``s3://…``. A path that
    exists is taken literally.
    """
    rest = argument
    label, equals, after = argument.partition("=")
    if equals and is_label(label) and not in_folder(label):
        rest = after
    for text in (argument, rest):
        if os.path.exists(text):
            return False
        scheme = re.match(_SCHEME, text)
        if scheme:
            return scheme[1].lower() not in ("http", "https")
        if text.startswith("@"):
            return True
    return not re.match(_HOST_PORT, rest) and re.search(r"[*?\[]", rest) is not None


def in_folder(label: str) -> bool:
    """Return whether what precedes `=` begins a path: `runs/build` of ``build=41``.

    A label may have a slash, as ``feat/x`` does, unless there is such a folder, or what
    precedes the slash is a pattern.
    """
    folder = re.split(r"[/\\][^/\\]*$", label, maxsplit=1)[0]
    pattern = re.search(r"[*?\[]", folder) is not None
    return folder != label and (not folder or pattern or os.path.isdir(folder))


def is_host(text: str) -> bool:
    """Return whether `text` may be a host, a port or both."""
    return re.fullmatch(_HOST, text) is not None


def without_login(text: str) -> str:
    """Return a URL, even a malformed one, without user name and password.

    A password may contain unescaped ``/``, ``?``, ``#`` and ``@``, so everything up to
    the last ``@`` is dropped; ``…@`` shows that. If the host is invalid, everything
    after the scheme is dropped.
    """
    begins = re.match(_URL_BEGINS, text)
    if begins is None:
        return _LOGIN.sub("…@", text)
    login, _, bare = text[begins.end() :].rpartition("@")
    if not is_host(re.split(r"[/?#]", bare, maxsplit=1)[0]):
        return f"{begins[0]}…"
    doubtful = re.search(r"[/?#]", login) is not None
    return f"{begins[0]}{'…@' if doubtful else ''}{bare}"


def displayed(argument: str) -> str:
    """Return an argument for display: on one line, without a URL's password."""
    there = os.path.exists(argument)
    return printable(argument if there else without_login(argument))


def _sort(target: str) -> tuple[Sort, str] | None:
    if target == STDIN:
        return Sort.STDIN, target
    mode = _mode(target)
    if mode is not None:
        return (Sort.FOLDER if stat.S_ISDIR(mode) else Sort.FILE), target
    scheme = re.match(_SCHEME, target)
    if scheme:
        if scheme[1].lower() in ("http", "https"):
            return Sort.URL, target
        shown = printable(without_login(target))
        msg = f"{shown}: only http:// and https:// can be fetched"
        raise UsageError(msg)
    return (Sort.URL, f"http://{target}") if re.match(_HOST_PORT, target) else None


def common_label(labels: Iterable[str | None]) -> str | None:
    """Return the single label of a side's arguments; UsageError if there are two."""
    given = dict.fromkeys(label for label in labels if label is not None)
    if len(given) > 1:
        first, second, *_ = map(printable, given)
        msg = f"one side has two labels, {first} and {second}; give it one label"
        raise UsageError(msg)
    return next(iter(given), None)


def is_label(text: str) -> bool:
    """Return whether `text` may precede `=`: it does not begin a URL."""
    return bool(text) and not re.search(r"[?:#]", text)


def _mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG):
            return None
        raise FetchError(unreadable(path, error)) from None
    except ValueError:  # a NUL character
        return None


def unreadable(path: str, error: OSError) -> str:
    """Return the message for a path that the system does not let us read."""
    reason = (error.strerror or str(error)).lower()
    return f"{printable(path)}: {reason}"


def _missing(path: str) -> str:
    folder, name = os.path.split(path)
    shown = displayed(path)
    if shown == printable(path):
        if folder and _mode(folder) is None:
            return f"{shown}: no such file, and no folder {printable(folder)}"
        near = _nearest(folder, name)
        if near:
            return f"{shown}: no such file; did you mean {printable(near)}?"
    return f"{shown}: no such file (a URL begins with http:// or has a port)"


def _nearest(folder: str, name: str) -> str | None:
    import difflib
    from itertools import islice

    try:
        with os.scandir(folder or ".") as entries:
            names = [entry.name for entry in islice(entries, _NEIGHBOURS)]
    except (OSError, ValueError):
        return None
    near = difflib.get_close_matches(name, sorted(names), n=1)
    return os.path.join(folder, near[0]) if near else None
