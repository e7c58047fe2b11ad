"""One index for each distinct string, frame and stack of a whole trace."""

from __future__ import annotations

import numpy as np

from pprofdiff.model.csr import offsets_of
from pprofdiff.model.traces.trace import Stacks

# Numbers per frame in the file: program counter, function, file, line.
FRAME_NUMBERS = 4
_LARGEST_LINE = (1 << 63) - 1


class Interner:
    """Gives equal strings, frames and stacks of all generations the same index.

    `strings` maps strings to indices, in order; index 0 is the empty string.
    """

    def __init__(self) -> None:
        self.strings: dict[str, int] = {"": 0}
        self._frames: dict[tuple[int, int, int], int] = {}
        self._stacks: dict[bytes, int] = {b"": 0}

    def string(self, text: str) -> int:
        """Return the index of a string."""
        return self.strings.setdefault(text, len(self.strings))

    def frame(self, function: int, file: int, line: int) -> int:
        """Return the index of a frame; `function` and `file` are string indices."""
        frame = function, file, min(line, _LARGEST_LINE)
        return self._frames.setdefault(frame, len(self._frames))

    def stack(self, frames: bytes) -> int:
        """Return the index of a stack, given as int32 frame indices, leaf first."""
        return self._stacks.setdefault(frames, len(self._stacks))

    def stacks(self) -> Stacks:
        """Return all stacks as a trace table."""
        frames = np.array(list(self._frames), np.int64).reshape(-1, 3)
        depths = np.array([len(s) // 4 for s in self._stacks], np.int64)
        return Stacks(
            offsets_of(depths),
            np.frombuffer(b"".join(self._stacks), np.int32),
            frames[:, 0].astype(np.int32),
            frames[:, 1].astype(np.int32),
            frames[:, 2].copy(),
        )
