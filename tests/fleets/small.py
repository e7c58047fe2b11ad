"""The fleet of the notebook, `tests/data/fleet.zip`: six builds on ten hosts.

    python -m tests.fleets.small tests/data/fleet.zip

Hosts differ as in `making`; from build 44 on one function has 2 % more of all
CPU. A profile has no table entries that it does not use.
"""

from __future__ import annotations

import sys
import zipfile

from pprofdiff.loaders.profiles.encode import compress, encode
from pprofdiff.model.profiles.tables import pruned, with_used_strings
from tests.fleets import making

BUILDS = range(41, 47)
HOSTS = 10
FIRST, MORE = 44, 0.02
_HALF_HOUR = 1800


def write(path):
    """Write the fleet as a zip, the same bytes every time."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for build in BUILDS:
            for host in range(HOSTS):
                (profile,) = making.profiles_of(
                    (18, host),
                    samples=450,
                    again=build,
                    planted=MORE if build >= FIRST else 0.0,
                    start_s=_HALF_HOUR * (build - BUILDS[0]) + 7 * host,
                )
                data = compress(encode(with_used_strings(pruned(profile))))
                name = f"build={build}/host=web-{host + 1}/cpu.pb.gz"
                archive.writestr(zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0)), data)


if __name__ == "__main__":
    write(sys.argv[1])
