"""How a profiled program was built, where the program itself is at hand.

A Go program has its build settings inside (debug/buildinfo, Go 1.18), as ``go version
-m`` prints them.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Mapping

from pprofdiff.model.profiles.profile import Mapping as Program

# debug/buildinfo: 32 bytes of header, the flag for strings in place, and the strings,
# each after its length as a varint. The second one has 16 bytes of frame on both sides.
_MAGIC, _HEADER, _IN_PLACE, _FRAME = b"\xff Go buildinf:", 32, 2, 16
# The notes with the build ID are in the first page of an ELF file.
_NOTES = 4096
# Settings take a few KB: a longer string is no settings.
_LONGEST = 1 << 20


def build_settings(mapping: Program, profile: str = "") -> Mapping[str, str]:
    """Return build settings by name, such as ``-race``; the release is ``go``.

    The program is looked for next to the file of the `profile`, then where the profile
    says. Empty if it is at neither, is another build, or is not readable.
    """
    for path in (program_next_to(profile, mapping), mapping.file):
        try:
            build_id = bytes.fromhex(mapping.build_id)
            # Opening a pipe could block forever.
            if not build_id or not os.path.isfile(path):
                continue
            with (
                open(path, "rb") as file,
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as program,
            ):
                if program.find(b"GNU\0" + build_id, 0, _NOTES) >= 0:
                    return _settings(program)
        except (OSError, ValueError):
            continue
    return {}


def program_next_to(profile: str, mapping: Program) -> str:
    """Return where the program is if it is in the folder of a profile."""
    return os.path.join(os.path.dirname(profile), os.path.basename(mapping.file))


def _settings(program: mmap.mmap) -> dict[str, str]:
    at = program.find(_MAGIC)
    while at >= 0 and (at % 16 or not program[at + 15] & _IN_PLACE):
        at = program.find(_MAGIC, at + 1)
    if at < 0:
        return {}
    release, end = _string(program, at + _HEADER)
    text, _ = _string(program, end)
    found = {"go": release.decode("utf-8", "replace").removeprefix("go")}
    for line in text[_FRAME:-_FRAME].decode("utf-8", "replace").splitlines():
        word, _, setting = line.partition("\t")
        if word == "build":
            name, _, value = setting.partition("=")
            found[name] = value.strip('"')
    return found


def _string(program: mmap.mmap, at: int) -> tuple[bytes, int]:
    size = shift = 0
    while True:
        byte = program[at : at + 1]
        if not byte or shift > 28:
            raise ValueError("no string")
        size |= (byte[0] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte[0] < 0x80:
            break
    if size > _LONGEST:
        raise ValueError("no string")
    return program[at : at + size], at + size
