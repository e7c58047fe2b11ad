"""Add a label to all samples of a profile."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pprofdiff.model.profiles.profile import Labels, Profile


def with_label(profile: Profile, key: str, value: str) -> Profile:
    """Return the profile with a text label appended to each sample's labels."""
    labels, strings, size = profile.labels, profile.strings, len(profile)
    sample = np.append(labels.sample, np.arange(size))
    order = np.argsort(sample, kind="stable")

    def column(name: str, number: int) -> np.ndarray:
        own = getattr(labels, name)
        added = np.full(size, number, own.dtype)
        return np.append(own, added)[order]

    return replace(
        profile,
        strings=(*strings, key, value),
        labels=Labels(
            sample[order],
            column("key", len(strings)),
            column("text", len(strings) + 1),
            column("number", 0),
            column("unit", 0),
        ),
    )
