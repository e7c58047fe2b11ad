"""What every page shares: template engine, style sheet, script, policy.

Text is escaped in one place, the template engine. Only our own style sheet and scripts,
the serialized charts and JSON are passed to it as markup. The page's policy lists style
sheet and script by hash, so nothing else can run.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from pprofdiff._version import __version__
from pprofdiff.palette import css_variables
from pprofdiff.plots.drawing import chart_css

_ASSETS = "assets"
_WORD = re.compile(r"[\w$]")
_SCRIPT = re.compile(
    r"""
    (?P<whole> "(?:\\.|[^"\\\n])*" | `(?:\\.|[^`\\])*`
        | /(?![/*\s])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/ )
    | (?P<end> ;\s*(?=\}) )
    | (?: //[^\n]* | \s )+
    """,
    re.VERBOSE,
)
# The condition for dark mode; the page's script rewrites it if the reader chooses.
_DARK = "screen and (prefers-color-scheme:dark)"
_POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; "
    "img-src data:; base-uri 'none'; form-action 'none'"
)


def shell(*, notebook: bool = False) -> dict[str, Any]:
    """Return what every page shares: style, script, and the policy for both."""
    style, script = _style(notebook=notebook), _script()
    policy = _POLICY.format(script=_hash(script), style=_hash(style))
    return {
        "style": Markup(style),  # noqa: S704 - our own
        "script": Markup(script),  # noqa: S704 - our own
        "policy": Markup(policy),  # noqa: S704 - our own, of hashes
        "version": __version__,
    }


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("pprofdiff.report", _ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def template(name: str) -> Template:
    """Return a template by file name; values passed to it are escaped."""
    return _environment().get_template(name)


@cache
def _style(*, notebook: bool) -> str:
    light, dark = css_variables("light"), css_variables("dark")
    colours = (
        f":root{{color-scheme:light;{light}}}\n"
        f"@media {_DARK}{{:root{{color-scheme:dark;{dark}}}}}\n"
    )
    folders = ("flame", "", "notebook") if notebook else ("flame", "")
    return _terse_style("".join((colours, chart_css(), *_assets(".css", folders))))


@cache
def _script() -> str:
    """Return all scripts as one, which shares no names with anything else."""
    code = _terse_script("".join(_assets(".js", ("flame", ""))))
    return f'(() => {{\n"use strict";\n{code}\n}})();\n'


def _terse_script(code: str) -> str:
    """Return a script without comments and unneeded whitespace.

    Strings and regular expressions are unchanged. The scripts are written so that each
    statement ends with a semicolon or block, a division sign is followed by a space, a
    regular expression's slash is not, and templates are not nested.
    """

    def kept(match: re.Match[str]) -> str:
        if match["whole"] or match["end"]:
            return match["whole"] or ""
        before, after = code[match.start() - 1], code[match.end() : match.end() + 1]
        joins = _WORD.match(before) and _WORD.match(after)
        return " " if joins or before + after in ("++", "--") else ""

    return _SCRIPT.sub(kept, code.strip())


def _terse_style(rules: str) -> str:
    dense = re.sub(r"/\*.*?\*/", "", rules, flags=re.DOTALL)
    dense = re.sub(r"\s*([{};,>]|!important)\s*", r"\1", dense).replace(";}", "}")
    return re.sub(r"(?<=[{;])([a-z-]+): ", r"\1:", dense)


def _assets(ending: str, folders: Sequence[str]) -> list[str]:
    top = files("pprofdiff.report") / _ASSETS
    texts = []
    for folder in folders:
        entries = (top / folder if folder else top).iterdir()
        named = {entry.name: entry for entry in entries if entry.name.endswith(ending)}
        texts += [named[name].read_text("utf-8") for name in sorted(named)]
    return texts


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
