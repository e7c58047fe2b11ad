"""Read settings: `pprofdiff.toml`, or `[tool.pprofdiff]` in `pyproject.toml`.

Only the working directory is searched; the first file found counts, and flags override
it.
"""

from __future__ import annotations

import os
import stat

from pprofdiff.cli.flag_values import share
from pprofdiff.cli.options import Options
from pprofdiff.errors import FetchError, FormatError, UsageError
from pprofdiff.inputs.decompression import size_text

_OWN, _PROJECT = "pprofdiff.toml", "pyproject.toml"
_SETTINGS = "fail-on", "same-within", "strict"
_EXAMPLE = 'fail-on = ["total:+5%"]'
# A settings file has some lines; a project's pyproject.toml has hundreds.
_LARGEST = 1 << 20


def with_settings(options: Options) -> Options:
    """Return the options with the working directory's settings for what was not typed.

    Raises FetchError if a file cannot be read, FormatError if it is not TOML, is larger
    than 1 MB or not a regular file, UsageError for an unknown key or invalid value.
    """
    table, name = _table(_OWN, ()), _OWN
    if table is None:
        name = _PROJECT
        table = _table(name, ("tool", "pprofdiff"))
    if table is None:
        return options
    unknown = sorted(set(table) - set(_SETTINGS))
    if unknown:
        raise UsageError(
            f"{name}: unknown setting {unknown[0]}; known settings: "
            f"{', '.join(_SETTINGS)}"
        )
    rules, strict = table.get("fail-on", []), table.get("strict", False)
    if not isinstance(rules, list) or not all(isinstance(r, str) for r in rules):
        raise UsageError(f"{name}: fail-on is a list of rules, such as {_EXAMPLE}")
    if not isinstance(strict, bool):
        raise UsageError(f"{name}: strict is true or false")
    same_within = options.same_within
    if same_within is None and "same-within" in table:
        same_within = _share(table["same-within"], name)
    if rules and not options.fail_on:
        options = options._replace(fail_on=tuple(rules), fail_on_of=f"{name}: fail-on")
    return options._replace(strict=options.strict or strict, same_within=same_within)


def _share(value: object, name: str) -> float:
    """Return the fraction that a percentage, text or number, stands for."""
    try:
        return share("" if isinstance(value, bool) else str(value))
    except ValueError as error:
        raise UsageError(f"{name}: same-within {error}") from None


def _read(path: str) -> bytes | None:
    # Opening a pipe would wait for a writer.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        data = file.read(_LARGEST + 1)
    return data if len(data) <= _LARGEST else None


def _table(name: str, keys: tuple[str, ...]) -> dict[str, object] | None:
    """Return a file's table under these keys, None if either is missing."""
    try:
        data = _read(name)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise FetchError(f"{name}: cannot be read: {error.strerror or error}") from None
    if data is None:
        raise FormatError(
            f"{name}: not a settings file: not a regular file, or it holds more "
            f"than {size_text(_LARGEST)}"
        )
    # A pyproject.toml that never mentions us may be invalid: that is not our concern.
    if keys and b"pprofdiff" not in data:
        return None
    import tomllib

    try:
        value: object = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"{name}: is not TOML: {error}") from None
    for key in keys:
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    if isinstance(value, dict):
        return value
    raise UsageError(f"{name}: [tool.pprofdiff] is a table, such as {_EXAMPLE}")
