"""Colours of the page, the plots and the notebook, for light and dark themes.

More is orange and less is blue, never red and green: the two differ for every kind of
colour vision. Changes within noise have the two faintest shades, significant ones the
others. Shades move away from `neutral` in even lightness steps, so they stay
distinct in greyscale. `base` is grey; `new` is plum, which implies no direction. Text
colours, and `frame_text` on every fill, have the 4.5:1 contrast that WCAG 2.2 (1.4.3)
asks of small text.
"""

from __future__ import annotations

from typing import Final, Literal

Theme = Literal["light", "dark"]
THEMES: Final[tuple[Theme, ...]] = ("light", "dark")

COLOURS: Final[dict[str, tuple[str, str]]] = {
    # Backgrounds, lines and text.
    "background": ("#ffffff", "#14171c"),
    "panel": ("#f5f6f8", "#1c2128"),
    "border": ("#d3d8de", "#363d47"),
    "grid": ("#e6e9ed", "#272d36"),
    "focus": ("#0a58ca", "#7db8ff"),
    "text": ("#1b1f24", "#e6e9ed"),
    "faint": ("#57606b", "#a1abb7"),
    "link": ("#0a58ca", "#7db8ff"),
    # The two builds.
    "base": ("#646d78", "#8f9aa7"),
    "new": ("#7a1468", "#f7a8e4"),
    # Direction of a change, for text and signs.
    "worse": ("#a63c00", "#ff9a5c"),
    "better": ("#0b57b0", "#6cb2ff"),
    # Direction of a change, for fills; a higher number is a larger change.
    "neutral": ("#e5e8ec", "#353a3e"),
    "worse_0": ("#f3ddc9", "#4b3c2f"),
    "worse_1": ("#f7d3b7", "#5a3e2a"),
    "worse_2": ("#f9b786", "#73411d"),
    "worse_3": ("#f89759", "#8f4715"),
    "worse_4": ("#eb7535", "#ac4d15"),
    "better_0": ("#d2e3f2", "#324050"),
    "better_1": ("#c1ddf5", "#2e465e"),
    "better_2": ("#9ecdf9", "#2a527a"),
    "better_3": ("#7bb4f3", "#286099"),
    "better_4": ("#5a97e7", "#2f6eb9"),
    # Groups of runtime costs, for fills.
    "group_gc": ("#db692a", "#ac551a"),
    "group_gc_tax": ("#deb73c", "#6e4900"),
    "group_alloc": ("#83cefc", "#0572b3"),
    "group_sched": ("#2ba078", "#056757"),
    "group_locks": ("#b68dfb", "#52176c"),
    "group_syscall": ("#7683b8", "#39429f"),
    "group_runtime": ("#e3a5b0", "#aa4686"),
    "group_user": ("#e4e4e4", "#393e43"),
    # Search matches, and the text and edges of frames.
    "match": ("#d9b8ff", "#6b3fa3"),
    "frame_text": ("#1b1f24", "#f3f5f7"),
    "frame_edge": ("#ffffff", "#14171c"),
}
"""Each colour as ``#rrggbb``: (light, dark)."""

WORSE: Final = ("worse_0", "worse_1", "worse_2", "worse_3", "worse_4")
"""Fills for increases, faintest first; the first `FAINT` are for ones within noise."""

BETTER: Final = ("better_0", "better_1", "better_2", "better_3", "better_4")
"""Fills for decreases, faintest first; likewise."""

FAINT: Final = 2
"""How many fills of each direction are for changes within noise."""

GROUPS: Final = (
    "gc",
    "gc_tax",
    "alloc",
    "sched",
    "locks",
    "syscall",
    "runtime",
    "user",
)
"""Groups of runtime costs (``goruntime/rule_table.py``) that have a fill."""

FILLS: Final = (
    "neutral",
    *WORSE,
    *BETTER,
    *(f"group_{name}" for name in GROUPS),
    "match",
)
"""Fills on which `frame_text` is readable."""


def colour(name: str, theme: Theme = "light") -> str:
    """Return a colour as ``#rrggbb``; raises KeyError for a name not in `COLOURS`."""
    return COLOURS[name][THEMES.index(theme)]


def group(name: str, theme: Theme = "light") -> str:
    """Return the fill of a group of runtime costs; unknown ids get `user`'s."""
    return colour(f"group_{name}" if name in GROUPS else "group_user", theme)


def css_name(name: str) -> str:
    """Return the CSS variable for a colour: ``--worse-1`` for ``worse_1``."""
    return "--" + name.replace("_", "-")


def css_variables(theme: Theme) -> str:
    """Return one theme's CSS declarations: ``--text:#1b1f24;…``."""
    return "".join(f"{css_name(name)}:{colour(name, theme)};" for name in COLOURS)
