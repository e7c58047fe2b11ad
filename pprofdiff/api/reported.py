"""What every comparison can do: say why, be written, be shown in a notebook."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from pprofdiff.analysis.comparison import Comparison
from pprofdiff.report.files import renderer_for, replace_files
from pprofdiff.report.model import ReportModel, report_of

if TYPE_CHECKING:
    import pandas as pd

    from pprofdiff.analysis.gate.model import Verdict
    from pprofdiff.analysis.gate.rules import Gate

__all__ = ["Path", "Reported", "delivered"]

Text = TypeVar("Text", str, bytes)
Path = str | os.PathLike[str]


class Reported(ABC):
    """A comparison of any kind, as the report's writers take it."""

    __slots__ = ()

    def __getstate__(self) -> dict[str, object]:
        """Return what goes to another process: the input, not what follows from it."""
        held: Any = self
        return {field.name: getattr(self, field.name) for field in fields(held)}

    @property
    @abstractmethod
    def comparison(self) -> Comparison:
        """What is compared, as `pprofdiff.analysis.comparison` holds it."""

    def report(self, gate: Gate | None = None) -> ReportModel:
        """Return the report that writers take, judged by the gate if there is one."""
        return report_of(self.comparison, gate=gate)

    def check(self, *rules: str, strict: bool = False) -> Verdict:
        r"""Return what becomes of rules, written as for ``--fail-on``.

        The verdict is true unless a rule tripped; `tripped` holds those that did, with
        their figures. `strict` is as ``--strict``. Raises UsageError for a wrong rule.

        >>> verdict = d.check("total:+5%", r"cum:main\..*:+5%")  # doctest: +SKIP
        >>> assert verdict, [rule.text for rule in verdict.tripped]  # doctest: +SKIP
        """
        from pprofdiff.analysis.gate.rules import Gate

        return self.report(Gate.of(rules, strict=strict)).verdict

    @property
    def findings(self) -> pd.DataFrame:
        """Why it changed: one row a finding, the one that explains most first.

        ============== ============================================= ============
        column         meaning                                       type
        ============== ============================================= ============
        id             stable name of the rule                       string
        severity       info, minor or major                          categorical
        direction      worse, better or neutral                      categorical
        title          one sentence                                  string
        text           the numbers behind it, "" for none            string
        advice         what to do, "" for nothing                    string
        explains       scaled change of CPU that it speaks of; NaN   float64
                       where that cannot be told
        ============== ============================================= ============
        """
        from pprofdiff.analysis.findings.frames import findings_frame

        return findings_frame(self.report().findings)

    @property
    def evidence(self) -> pd.DataFrame:
        """What `findings` rest on: one row a fact.

        ============== ============================================= ============
        column         meaning                                       type
        ============== ============================================= ============
        finding        the finding's id                              string
        what           what was measured                             string
        source         the input, and the field of it                string
        base, new      in `unit`; NaN where a side does not say      float64
        unit           their unit                                    string
        ============== ============================================= ============
        """
        from pprofdiff.analysis.findings.frames import evidence_frame

        return evidence_frame(self.report().findings)

    def to_json(self, path: Path | None = None) -> str | None:
        """Return the report as JSON (schema ``pprofdiff/1``), or write it to `path`."""
        return self._rendered(".json", path)

    def to_markdown(self, path: Path | None = None) -> str | None:
        """Return the comment for a pull request, or write it to `path`."""
        return self._rendered(".md", path)

    def to_html(self, path: Path | None = None) -> str | None:
        """Return the report as one page without links out, or write it to `path`."""
        return self._rendered(".html", path)

    def to_text(self, path: Path | None = None) -> str | None:
        """Return the report that the command line prints, or write it to `path`."""
        from pprofdiff.report.text.plain import render
        from pprofdiff.report.text.report import report_parts

        return delivered(render(report_parts(self.report())), path)

    def _rendered(self, ending: str, path: Path | None) -> str | None:
        return delivered(renderer_for(ending)(self.report()).decode(), path)

    def _repr_mimebundle_(
        self,
        include: Collection[str] | None = None,
        exclude: Collection[str] | None = None,
    ) -> dict[str, str]:
        """Return what Jupyter shows: a table, and its twin in text."""
        from pprofdiff.notebook import shown
        from pprofdiff.notebook.comparisons import comparison_card

        return shown(
            lambda: comparison_card(self.report()), repr(self), include, exclude
        )


def delivered(data: Text, path: Path | None) -> Text | None:
    """Return data, or write it to `path` and return None, as pandas does."""
    if path is None:
        return data
    raw = data if isinstance(data, bytes) else data.encode()
    replace_files([(os.fspath(path), raw)])
    return None
