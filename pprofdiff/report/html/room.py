"""The height of the page: which of its sections are open before anyone clicks.

Heights are in pixels of a window 1280 wide, close to what browsers render.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pprofdiff.report.html.parts import Chunk, Drawn, DrawnTable, Lines

WAITS = 900
"""The height of what goroutines waited for: chart and table, and the chains below."""

# Maximum height of a page.
_PAGE = 6000
# The first screen and the flame graph; what is above, below and between sections.
_ABOVE, _BELOW = 1350, 300
# A section with its title and sentence; closed, with only its title; a row of charts.
_SECTION, _CLOSED, _CHARTS = 135, 42, 400
# A row of a table and one that sums up others; its headings, title, and filter.
_ROW, _WHOLE, _HEAD, _TITLE, _FILTER = 27, 36, 35, 40, 40
# A line of text, the letters in it, and a folded table.
_LINE, _LETTERS, _FOLD = 23, 100, 30


def text_height(blocks: Iterable[Drawn]) -> int:
    """Return the height of texts and tables."""
    return sum(map(_block, blocks))


def heights(chunks: Iterable[Chunk], charts: int, folded: int) -> int:
    """Return the height of an open section with chunks, charts and folded charts."""
    drawn = sum(text_height(chunk.blocks) if chunk.shown else _FOLD for chunk in chunks)
    return _SECTION + drawn + (_CHARTS if charts else 0) + (_FOLD if folded else 0)


def opened(
    changed: Sequence[bool], high: Sequence[int], others: int
) -> tuple[bool, ...]:
    """Return which sections are open: those with changes, in order, while they fit.

    `high` is each one's height when open, `others` how high the rest is below the flame
    graph. The first with changes is always open.
    """
    left = _PAGE - _ABOVE - _BELOW - others - _CLOSED * len(changed)
    answers: list[bool] = []
    for news, height in zip(changed, high, strict=True):
        more = height - _CLOSED
        fits = news and (more <= left or not any(answers))
        left -= more if fits else 0
        answers.append(fits)
    return tuple(answers)


def _block(block: Drawn) -> int:
    if isinstance(block, DrawnTable):
        rows = block.rows[: block.seen]
        high = sum(_WHOLE if row.whole else _ROW for row in rows)
        high += _HEAD if block.headed else 0
        high += _TITLE if block.title else 0
        return high + (_FILTER if len(block.rows) > block.seen else 0)
    if isinstance(block, Lines):
        return _LINE * (block.text.count("\n") + 2)
    lines = (
        1 + len(f"{paragraph.lead} {paragraph.text}") // _LETTERS
        for paragraph in block.paragraphs
    )
    return _LINE * (1 + sum(lines))
