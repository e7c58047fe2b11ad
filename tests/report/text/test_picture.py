"""README's picture is what the terminal shows of the demo, drawn anew."""

from __future__ import annotations

import io
import os
import re

from rich.console import Console
from rich.terminal_theme import TerminalTheme

from pprofdiff import demo
from pprofdiff.cli.arguments import parse
from pprofdiff.cli.progress import Waiting
from pprofdiff.cli.run import compared
from pprofdiff.cli.screen import Screen
from pprofdiff.report.text.layout import laid_out
from pprofdiff.report.text.lines import Page, lines
from pprofdiff.report.text.report import report_parts
from pprofdiff.report.text.terminal import _print
from tests.report.golden import FOLDER

PICTURE = FOLDER / "demo.svg"
THEME = TerminalTheme(
    (13, 17, 23), (230, 237, 243), [(230, 237, 243)] * 8, [(139, 148, 158)] * 8
)
# rich's own frame loads fonts from the net: ours loads nothing.
FRAME = """<svg width="880" viewBox="-8 -12 {terminal_width} {height}" \
xmlns="http://www.w3.org/2000/svg" role="img" aria-label="pprofdiff demo">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace;
 font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
<rect x="-8" y="-12" width="100%" height="100%" rx="8" fill="#0d1117"/>
<g clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def test_the_picture_in_the_readme_is_current():
    console = Console(
        file=io.StringIO(), record=True, width=100, force_terminal=True, highlight=False,
        color_system="truecolor",
    )  # fmt: skip
    screen = Screen(io.StringIO(), io.StringIO())
    quietly = Waiting(screen.messages, enabled=False)
    options = parse(demo.arguments())._replace(within=demo.installed_in())
    report = compared(options, screen, quietly)
    _print(lines(laid_out(report_parts(report)), Page(100, fit=True)), console)
    svg = console.export_svg(theme=THEME, code_format=FRAME, unique_id="demo")
    assert not re.search(r"url\(http|@import|href=", svg)
    if os.environ.get("PPROFDIFF_GOLDEN") == "write":
        PICTURE.write_text(svg, encoding="utf-8")
    assert svg == PICTURE.read_text(encoding="utf-8")
