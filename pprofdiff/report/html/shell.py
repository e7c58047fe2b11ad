"""What every page of ours has: template engine, style sheet, script, policy.

Text is escaped in one place, the template engine; only our own style sheet and scripts,
the serialised charts and JSON are handed to it as markup. The page's policy names style
sheet and script by their hashes, so that nothing else can run.
"""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from pprofdiff._version import __version__
from pprofdiff.palette import css_variables
from pprofdiff.plots import chart_css

__all__ = ["shell", "template"]

_ASSETS = "assets"
_POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; "
    "img-src data:; base-uri 'none'; form-action 'none'"
)


def shell() -> dict[str, Any]:
    """Return what every page of ours has: style, script, and the policy for both."""
    style, script = _style(), _script()
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
    """Return a template by its file name; what it is given is escaped."""
    return _environment().get_template(name)


@cache
def _style() -> str:
    """Return the style sheet: both themes' colours, then the rules."""
    light, dark = css_variables("light"), css_variables("dark")
    colours = (
        f":root{{color-scheme:light;{light}}}\n"
        "@media (prefers-color-scheme:dark){"
        f":root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\n"
        f":root[data-theme=dark]{{color-scheme:dark;{dark}}}\n"
        f"@media print{{:root:root:root{{color-scheme:light;{light}}}}}\n"
    )
    return colours + chart_css() + "".join(_assets(".css"))


@cache
def _script() -> str:
    """Return all scripts as one, which shares no names with anything else.

    Comments and indents are for readers of the assets, not for every report.
    """
    lines = (line.strip() for text in _assets(".js") for line in text.splitlines())
    code = "\n".join(line for line in lines if line and not line.startswith("//"))
    return f'(() => {{\n"use strict";\n{code}\n}})();\n'


def _assets(ending: str) -> list[str]:
    """Return the assets of a kind in the order of their names, folders first."""
    top = files("pprofdiff.report") / _ASSETS
    assets = [
        (folder is top, entry.name, entry)
        for folder in (top / "flame", top)
        for entry in folder.iterdir()
        if entry.name.endswith(ending)
    ]
    assets.sort(key=lambda item: item[:2])
    return [entry.read_text("utf-8") for _, _, entry in assets]


def _hash(text: str) -> str:
    """Return what a policy calls a script or style sheet."""
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
