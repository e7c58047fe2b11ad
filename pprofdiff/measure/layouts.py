"""Relink test binaries again and again, each time with another function order.

Code layout changes speed (Mytkowicz et al. 2009), and any source change alters the
layout. Over many layouts this becomes noise that the spread shows. Since Go 1.22
cmd/link shuffles functions by a seed, ``-randlayout``.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping

from pprofdiff.errors import MeasureError
from pprofdiff.measure.gobuild import Binary, Link, Tree, linked, test_binary, toolchain
from pprofdiff.measure.goflags import GoTest
from pprofdiff.measure.sides import SideName

_FIRST_MINOR = 22
_RELEASE = re.compile(r"go1\.(\d+)")
# Limit for relinking before turns; with many packages, they are relinked in rotation.
_SECONDS = 3.0


class Layouts:
    """Both sides' test binaries, in the current function order."""

    def __init__(
        self,
        asked: GoTest,
        trees: Mapping[SideName, Tree],
        binaries: Mapping[SideName, Mapping[str, Binary]],
        first: int = 0,
    ) -> None:
        self.asked = asked
        self.trees = trees
        self.built = binaries
        self._binaries = {side: dict(own) for side, own in binaries.items()}
        self._packages = [name for name in binaries["base"] if name in binaries["new"]]
        self._seed = first
        self.seconds = 0.0
        """How long the last relinking took, for the packages relinked on both sides."""
        self.vary = can_vary(trees)
        """Whether the linker can produce other orders than the usual one."""

    def of(self, side: SideName, package: str) -> Binary:
        """Return a package's test binary."""
        return self._binaries[side][package]

    def change(self) -> None:
        """Relink with another function order, one seed for both sides, if possible."""
        if not self.vary:
            return
        self._seed += 1
        began = time.monotonic()
        try:
            for package in list(self._packages):
                self._link(package)
                # The package that waited longest goes first next time.
                self._packages.append(self._packages.pop(0))
                if time.monotonic() - began > _SECONDS:
                    break
        except MeasureError:
            self.vary = False
        self.seconds = time.monotonic() - began

    def _link(self, package: str) -> None:
        again = {
            side: own[package]._replace(path=f"{own[package].path}.{self._seed}")
            for side, own in self.built.items()
        }
        wanted = [
            Link(self.trees[side], test_binary(binary.path), (package,))
            for side, binary in again.items()
        ]
        # Omitting DWARF halves the link time.
        linked(self.asked, wanted, f"-w {order_of(self._seed)}")
        for side, binary in again.items():
            last = self._binaries[side][package]
            if last != self.built[side][package]:
                os.unlink(last.path)
            self._binaries[side][package] = binary


def order_of(seed: int) -> str:
    """Return the linker flag that shuffles functions by a seed."""
    return f"-randlayout={seed}"


def can_vary(trees: Mapping[SideName, Tree]) -> bool:
    """Return whether both sides' linkers can shuffle functions by a seed."""
    for tree in trees.values():
        release = _RELEASE.match(toolchain(tree))
        # -ldflags on the command line would replace those in GOFLAGS.
        given = "-ldflags" in tree.environment.get("GOFLAGS", "")
        if release is None or int(release[1]) < _FIRST_MINOR or given:
            return False
    return True
