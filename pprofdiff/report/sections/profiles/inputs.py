"""What the table of inputs says about profiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pprofdiff.analysis.profiles.caveats import go_version
from pprofdiff.analysis.profiles.kinds import kind_name
from pprofdiff.model.profiles.profile import Profile
from pprofdiff.model.side import Capture
from pprofdiff.report.model import Input


def profile_inputs(captures: Sequence[Capture[Profile]]) -> Iterator[Input]:
    """Yield what each profile says about itself.

    The Go version is inferred from all profiles of a side together.
    """
    version = go_version(*(capture.content for capture in captures))
    for capture in captures:
        profile = capture.content
        name = kind_name(profile)
        types = [kind.type for kind in profile.sample_types]
        samples = len(profile)
        if "samples" in types:
            samples = int(np.abs(profile.values[:, types.index("samples")]).sum())
        yield Input(
            capture.path,
            name,
            go_version=version,
            build_id=profile.mappings[0].build_id or None if profile.mappings else None,
            duration_ns=profile.duration_ns,
            time_ns=profile.time_ns,
            period=profile.period,
            saved_to=capture.saved_to,
            amount=f"{samples:,} samples" if name == "cpu" else "",
            counts={"samples": samples},
        )
