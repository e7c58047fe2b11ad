"""Print the table of the field test: ``python -m tests.field [NAME…]``."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.field.capture import PAIRS
from tests.field.scoring import JUDGEMENTS, score

_WIDE = 88


def report_on(folder: Path, options: Sequence[str] = ()) -> dict[str, Any]:
    """Return the JSON report of a pair's two sides."""
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "report.json"
        command = [sys.executable, "-m", "pprofdiff", "base", "new", *options]
        command += ["-o", str(out)]
        done = subprocess.run(
            command, check=False, cwd=folder, capture_output=True, text=True
        )
        if not out.exists():
            raise RuntimeError(f"{folder.name}: {done.stderr}")
        report: dict[str, Any] = json.loads(out.read_text("utf-8"))
        return report


def kept_aside(name: str) -> bool:
    """Return whether rules were written without a look at a pair: one in five.

    The name's hash decides, so that nobody chooses.
    """
    return hashlib.sha256(name.encode()).digest()[0] < 0x34


def main(names: Sequence[str]) -> None:
    """Print what stood first for each pair, and how often it was right.

    Without names, pairs that are kept aside are left out; ``--aside`` is those alone.
    """
    wanted = ("--aside" in names, [name for name in names if name != "--aside"])
    folders = [PAIRS / name for name in wanted[1]] or sorted(
        path.parent
        for path in PAIRS.glob("*/pair.toml")
        if kept_aside(path.parent.name) == wanted[0]
    )
    counts: Counter[str] = Counter()
    outcomes: Counter[bool] = Counter()
    for folder in folders:
        pair = tomllib.loads((folder / "pair.toml").read_text("utf-8"))
        said = score(pair, report_on(folder, pair.get("options", ())))
        counts[said.judgement] += 1
        if "unknown" not in pair.get("verdict", ["unknown"]):
            outcomes[said.outcome not in ("", "unknown")] += 1
        print(f"{said.judgement:6}  {folder.name}")
        print(f"        truth: {pair['truth']}"[:_WIDE])
        print(f"        said:  {said.outcome or '-'}; {said.first or '-'}"[:_WIDE])
    got = ", ".join(f"{counts[word]} {word}" for word in JUDGEMENTS)
    print(f"\n{sum(counts.values())} pairs: {got}")
    print(f"Faster or slower: {outcomes[True]} of {outcomes.total()} said")


if __name__ == "__main__":
    main(sys.argv[1:])
