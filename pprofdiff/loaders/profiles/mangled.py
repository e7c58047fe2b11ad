"""Names of functions as compilers write them into symbols that perf leaves as they are.

perf reads symbols of C++, Rust, Java and OCaml itself. Types of parameters are left
out, as ``go tool pprof`` leaves out those of C++.
"""

from __future__ import annotations

import re

# Free Pascal (make_mangledname in compiler/symdef.pas): the unit, or ``P$`` and the
# program, then classes and routines around it, the routine, and the types of its
# parameters, ``P$CART$_$TCART_$__$$_TOTAL$$INT64``.
_PASCAL = re.compile(r"(?:P\$)?([A-Z_]\w*(?:\$.+)?)_\$\$_([A-Z_]\w*)(?:\$.*)?")
_WITHIN_PASCAL = re.compile(r"\$_\$|_\$_")
# GNU Fortran: ``__shop_MOD_price``, with what the compiler made of it.
_FORTRAN = re.compile(r"__([a-z]\w*?)_MOD_(\w+(?:\.\w+)*)")
# D (https://dlang.org/spec/abi.html#name_mangling): names with their lengths, such as
# ``_D4shop6Ledger4findMFiZv``, of which some refer back to others by distance. What is
# in a template, or in a function, is named after the Z that ends its types.
_D = re.compile(r"_D(?=\d)")
_LENGTH, _BACK = re.compile(r"\d{1,6}"), re.compile(r"Q([A-Z]*)([a-z])")
_TEMPLATE = re.compile(r"__[TU](?=\d|Q)")
_WITHIN_D = re.compile(r"Z(?=\d|Q|__[TU])")
_LETTERS = 26
# What the type of a function begins with: F, and how it is called or linked.
_TYPES = ("F", "M", "U", "W", "R")


def readable(symbol: str) -> str:
    """Return the name that a symbol is made of, itself if it is none of these."""
    if (pascal := _PASCAL.fullmatch(symbol)) is not None:
        within, routine = pascal.groups()
        parts = [part.partition("$")[0] for part in _WITHIN_PASCAL.split(within)]
        return ".".join(part for part in (*parts, routine) if part.strip("_"))
    if (fortran := _FORTRAN.fullmatch(symbol)) is not None:
        return "::".join(fortran.groups())
    if _D.match(symbol) is not None:
        return ".".join(_names_in_d(symbol)) or symbol
    return symbol


def _names_in_d(symbol: str) -> list[str]:
    """Return the names of a function of D and of what is around it, outermost first.

    A template's name, which what it makes has too, is there once.
    """
    names, at = _names_from(symbol, len("_D"))
    while at >= 0:
        inner: list[str] = []
        for mark in _WITHIN_D.finditer(symbol, at):
            inner, at = _names_from(symbol, mark.end())
            if inner and symbol[at : at + 1] in _TYPES:
                break
        else:
            return names
        names += inner[1:] if inner[:1] == names[-1:] else inner
    return names


def _names_from(symbol: str, at: int) -> tuple[list[str], int]:
    """Return the names one after another from a place on, and the place after them."""
    names: list[str] = []
    name, at = _name_in_d(symbol, at)
    while name:
        if names[-1:] != [name]:
            names.append(name)
        name, at = _name_in_d(symbol, at)
    return names, at


def _name_in_d(symbol: str, at: int) -> tuple[str, int]:
    if (back := _BACK.match(symbol, at)) is not None:
        far = 0
        for letter in f"{back[1]}{back[2].upper()}":
            far = far * _LETTERS + ord(letter) - ord("A")
        if not 0 < far <= at or not symbol[at - far].isdecimal():
            return "", at
        return _name_in_d(symbol, at - far)[0], back.end()
    if (template := _TEMPLATE.match(symbol, at)) is not None:
        return _name_in_d(symbol, template.end())
    if (length := _LENGTH.match(symbol, at)) is None:
        return "", at
    end = length.end() + int(length[0])
    name = symbol[length.end() : end]
    if (template := _TEMPLATE.match(name)) is not None:
        return _name_in_d(name, template.end())[0], end
    return (name, end) if end <= len(symbol) and name.isidentifier() else ("", at)
