"""How two sides are compared: the choices that are the same for all kinds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pprofdiff.analysis.work import Work
from pprofdiff.identity.model import Identity

if TYPE_CHECKING:
    from pprofdiff.analysis.gclogs.window import Span

__all__ = ["DEFAULTS", "Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """The choices of a comparison; the defaults compare everything per second.

    Attributes
    ----------
    sample_type
        Which values of profiles, by name or position; None for the profile's default.
    normalize
        Scale new to the base's total, so that shares are compared.
    work
        Operations that each side did; None to infer them from the inputs.
    spans
        Of each side's GC log, the seconds to compare; None for its steady window.
    identity
        Which function of base is which of new; None to decide it from the inputs.

    """

    sample_type: str | int | None = None
    normalize: bool = False
    work: Work | None = None
    spans: tuple[Span | None, Span | None] = (None, None)
    identity: Identity | None = None


DEFAULTS = Settings()
"""Everything per second, work inferred, steady windows."""
