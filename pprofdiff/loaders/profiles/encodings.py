"""The encodings of a profile: profile.proto, folded stacks, and austin's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pprofdiff.model.profiles.profile import Profile

_LINES = 10
# Types that count samples: of Parca, and of Julia's PProf.
_COUNTED = ("sample", "samples", "events")
_AUSTIN = re.compile(rb"# austin: [\d.]+\s")
_FOLDED = re.compile(rb"[^\0]*[^\0\s][ \t]+\d+(?:\.\d*)?[ \t]*\r?")


def looks_folded(start: bytes, *, whole: bool) -> bool:
    """Return whether `start` begins (`whole`: is) folded stacks.

    Austin's have a header. Of others each of the first lines is ``frame;frame;frame
    COUNT``, and a stack has a ``;``. A last line that may be truncated counts only if
    it is the only one.
    """
    if _AUSTIN.match(start):
        return True
    if b";" not in start:
        return False
    lines = start.removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", _LINES)
    if len(lines) > 1 and (len(lines) > _LINES or not whole):
        lines.pop()
    return all(map(_FOLDED.fullmatch, filter(bytes.strip, lines)))


def decode(data: bytes, name: str = "profile") -> Profile:
    """Return the profile in `data`, not gzipped, in any of the encodings.

    Raises DamagedError as the `decode` of each does.
    """
    if _AUSTIN.match(data):
        from pprofdiff.loaders.profiles import austin

        return austin.decode(data, name)
    if looks_folded(data[: 1 << 16], whole=len(data) <= 1 << 16):
        from pprofdiff.loaders.profiles import folded

        return folded.decode(data, name)
    from pprofdiff.loaders.profiles import pprof

    view = pprof.parsed(data, name)
    # The view has a copy: these bytes are a third of what decoding takes.
    del data
    return _timed(pprof.decoded(view, name))


def _timed(profile: Profile) -> Profile:
    """Return a profile of samples alone with their CPU time, if its period says it.

    Profilers such as Parca's count samples and leave the time to the reader.
    """
    kinds, every, period = profile.sample_types, profile.period_type, profile.period
    alone = len(kinds) == 1 and kinds[0].unit == "count"
    if not alone or kinds[0].type not in _COUNTED or not period:
        return profile
    if every is None or (every.type, every.unit) != ("cpu", "nanoseconds"):
        return profile
    import numpy as np
    from msgspec.structs import replace

    most = int(np.abs(profile.values).max(initial=0))
    if most * period * max(len(profile), 1) > np.iinfo(np.int64).max:
        return profile
    return replace(
        profile,
        sample_types=(*kinds, every),
        values=np.column_stack((profile.values[:, 0], profile.values[:, 0] * period)),
    )
