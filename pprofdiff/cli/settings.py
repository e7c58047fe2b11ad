"""Settings kept in a file: `pprofdiff.toml`, or `[tool.pprofdiff]` of `pyproject.toml`.

Both are looked for in the working directory only; the first that is there counts, and
what is typed on the command line counts instead of it.
"""

from __future__ import annotations

import os
import stat

from pprofdiff.cli.flag_values import share
from pprofdiff.cli.options import Options
from pprofdiff.errors import FetchError, FormatError, UsageError
from pprofdiff.inputs.wording import size_text

__all__ = ["with_settings"]

_OWN, _PROJECT = "pprofdiff.toml", "pyproject.toml"
_SETTINGS = "fail-on", "same-within", "strict"
_EXAMPLE = 'fail-on = ["total:+5%"]'
# A file of settings by hand has some lines; a project's pyproject.toml has hundreds.
_LARGEST = 1 << 20


def with_settings(options: Options, folder: str) -> Options:
    """Return the options with the folder's settings, where they were not typed.

    Raises FetchError for a file that cannot be read, FormatError for one that is no
    TOML, is larger than 1 MB or no regular file, UsageError for a key or value that has
    no meaning.
    """
    table, name = _table(os.path.join(folder, _OWN), ()), _OWN
    if table is None:
        name = _PROJECT
        table = _table(os.path.join(folder, name), ("tool", "pprofdiff"))
    if table is None:
        return options
    unknown = sorted(set(table) - set(_SETTINGS))
    if unknown:
        raise UsageError(
            f"{name}: there is no setting {unknown[0]}; there are: "
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
    return options._replace(
        strict=options.strict or strict,
        same_within=same_within,
    )


def _share(value: object, name: str) -> float:
    """Return the share that a percentage says, a text or a number."""
    try:
        return share("" if isinstance(value, bool) else str(value))
    except ValueError as error:
        raise UsageError(f"{name}: same-within {error}") from None


def _read(path: str) -> bytes | None:
    """Return a file's bytes; None for a large one, and for a pipe or device."""
    # Opening a pipe would wait for a writer.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        data = file.read(_LARGEST + 1)
    return data if len(data) <= _LARGEST else None


def _table(path: str, keys: tuple[str, ...]) -> dict[str, object] | None:
    """Return the table under these keys of a file, None without file or table."""
    name = os.path.basename(path)
    try:
        data = _read(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise FetchError(f"{name}: cannot be read: {error.strerror or error}") from None
    if data is None:
        raise FormatError(
            f"{name}: is not a file of settings: it is no regular file, or holds more "
            f"than {size_text(_LARGEST)}"
        )
    # A project's file that never names us is its own business, sound or not.
    if keys and b"pprofdiff" not in data:
        return None
    import tomllib

    try:
        value: object = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"{name}: is no TOML: {error}") from None
    for key in keys:
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    if isinstance(value, dict):
        return value
    raise UsageError(f"{name}: [tool.pprofdiff] is a table, such as {_EXAMPLE}")
