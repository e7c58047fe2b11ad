"""Names of inputs that do not reveal a machine, and commands without secrets."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from msgspec.structs import replace

from pprofdiff.inputs.model import SideInputs, Skipped
from pprofdiff.inputs.places import without_login

_URL = re.compile(r"https?://[^/?#]*([^?#]*)", re.IGNORECASE)
_NAMELESS = "profile from a URL"
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)([^\s\"']*)")
# Names of secrets in headers, forms and flags, and the separator before the value.
_SECRET = re.compile(
    r"(?i)(authorization|cookie|token|passw(?:or)?d|secret|(?:api|access)[-_]?key|auth)"
    r"(\s*[:=]\s*)\S.*",
    re.DOTALL,
)
# Flags whose next word is a secret, as in curl, hey, wrk, ab and vegeta.
_FLAGS = re.compile(
    r"(?i)-{1,2}(?:[uab]|(?:proxy-)?user|cookie|oauth2-bearer"
    r"|[^=:]*(?:token|passw(?:or)?d|secret|key|auth))"
)


def without_places(side: SideInputs) -> SideInputs:
    """Return a side whose inputs are named by the last part of their path or URL.

    Equal names are numbered: ``cpu.pb.gz``, ``cpu.pb.gz (2)``.
    """
    counts: dict[str, int] = {}
    names: dict[str, str] = {}
    for one in side.inputs:
        if one.path not in names:
            name = _last_part(one.path)
            counts[name] = counts.get(name, 0) + 1
            number = counts[name]
            names[one.path] = name if number == 1 else f"{name} ({number})"
    return side._replace(
        inputs=tuple(
            replace(one, argument=names[one.path], path=names[one.path], saved_to=None)
            for one in side.inputs
        ),
        skipped=tuple(
            entry._replace(path=_last_part(entry.path), reason=_without_place(entry))
            for entry in side.skipped
        ),
    )


def from_within(side: SideInputs, folder: str) -> SideInputs:
    """Return a side whose inputs in a folder are named relative to it."""
    before = os.path.join(folder, "")
    return side._replace(
        inputs=tuple(
            replace(
                one,
                argument=one.argument.removeprefix(before),
                path=one.path.removeprefix(before),
            )
            for one in side.inputs
        ),
        skipped=tuple(
            entry._replace(
                path=entry.path.removeprefix(before),
                reason=entry.reason.replace(before, ""),
            )
            for entry in side.skipped
        ),
    )


def without_secrets(words: Sequence[str]) -> list[str]:
    """Return a command's words, with ``…`` in place of logins, tokens and cookies.

    A URL keeps its scheme, host and path: its query may hold a token.
    """
    kept: list[str] = []
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        if before.startswith("-") and _FLAGS.fullmatch(before):
            kept.append("…")
            continue
        plain = _ADDRESS.sub(_bare_address, word)
        kept.append(_SECRET.sub(r"\1\2…", plain))
    return kept


def _bare_address(match: re.Match[str]) -> str:
    address, query, _ = match[2].partition("?")
    return without_login(match[1] + address) + ("?…" if query else "")


def _without_place(entry: Skipped) -> str:
    """Return an entry's reason without its folder, "" if it does not start with it."""
    if not entry.reason.startswith(f"{entry.path}: "):
        return ""
    return _last_part(entry.path) + entry.reason.removeprefix(entry.path)


def _last_part(path: str) -> str:
    url = _URL.match(path)
    parts = re.split(r"[/\\]", url[1] if url else path)
    return next(filter(None, reversed(parts)), _NAMELESS if url else path)
