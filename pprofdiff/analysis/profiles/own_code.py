"""Which functions are the program's own code, in Go and in other languages.

Go names a function's package, other producers its file: a file of the language's
runtime, of its standard library or of an installed package is not the program's. Where
there are no files, namespaces decide.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pprofdiff.analysis.ledger.codes import owned

FLAT_WITH_LIBRARY = "flat incl. stdlib"
"""How a function's own samples together with those of the standard library and runtime
it calls are labelled: pprof shows them as flat where those are hidden (``-hide``)."""

# Node.js, V8, CPython, cargo and rustc, system headers, and what glibc is built from.
_LIBRARY_FILE = (
    r"^(?:node:|<|\.{1,2}/(?:csu|elf|io|malloc|nptl|stdlib|string|sysdeps|time)/)"
    r"|(?:^|/)(?:node_modules|site-packages|dist-packages|\.cargo/registry"
    r"|\.rustup|rustc/[0-9a-f]{7,}|lib/python\d[.\d]*|usr/include|usr/lib\d*)/"
    r"|(?:^|/)library/(?:std|core|alloc)/src/"
    # What cargo's build scripts compile: C of other projects.
    r"|/target/(?:[^/]+/)?(?:debug|release)/build/"
)
# Of jemalloc, gperftools and mimalloc.
_OTHER_ALLOCATORS = (
    r"(?:_?rjem_)?je_|tcmalloc::|MallocHook::|mi_(?:heap_)?[mcr]\w*alloc"
)
# Namespaces of Rust, C++ and Java; an implementation belongs to its type. A template
# of C++ begins with the type that it returns.
_LIBRARY_NAME = (
    r"(?:\w+ )?<*[&*]*(?:(?:std|core|alloc|hashbrown|backtrace|__gnu_cxx|abi)::"
    r"|(?:java|javax|jdk|sun|com[./]sun|kotlin|scala|clojure|groovy)[./])"
    # What the JVM makes to call a lambda.
    r"|[\w./]+\$\$Lambda\b"
    # Leading underscores, except procedures of Fortran's modules (gfortran:
    # __MODULE_MOD_NAME) and functions of D (_D, length, name) that are not its own.
    r"|operator (?:new|delete)\b|_(?!_\w+_MOD_|D\d|Dmain$)"
    r"|_D(?:3std|4core|2rt)\d|[\w.]+@|\("
    # Methods of Ruby's core classes.
    r"|(?:Array|Class|Enumera\w+|Fiber|File|Float|Hash|IO|Integer|Kernel|MatchData|Method"
    r"|Module|Object|Proc|Range|Regexp|Set|String|Struct|Symbol|Thread|Time)#"
    # OCaml's runtime, also what its compare.c does, and its standard library.
    r"|caml_|(?:do_)?compare_val$|(?:caml)?(?:Stdlib|Camlinternal\w+)(?:\.|__)"
    # Operators without their type, as Crystal's `==` and `[]?`: what calls them counts.
    r"|[^\w\s]+$"
    # The kernel's, by stackcollapse-perf.pl.
    r"|.*_\[k\]$"
    # What threads begin with; V8 and Node.js.
    r"|(?:clone3?|start_thread)$|(?:v8|node)::|Builtins_"
    r"|(?:c?free|malloc|calloc|realloc|posix_memalign|mem(?:cpy|move|set|cmp|chr))$"
    rf"|{_OTHER_ALLOCATORS}"
    # Of glibc's malloc.c, whatever the compiler made of them.
    r"|(?:malloc_consolidate|unlink_chunk|sysmalloc|systrim|heap_trim|tcache_\w+)(?:\.|$)"
)
# What only allocates for its callers, by name and by file.
_ALLOCATES = re.compile(
    r"operator new\b|(?:\w+_)?(?:malloc|calloc|realloc|memalign|[mr]allocx)$"
    rf"|{_OTHER_ALLOCATORS}|(?:__rustc::)?__r(?:ust|g|dl)_"
    r"|<?alloc::(?:alloc|raw_vec)::|(?:\w+ )?(?:std|__gnu_cxx)::\w*alloc\w*<"
)
_OF_ALLOCATOR = re.compile(r"jemalloc|tcmalloc|gperftools|mimalloc")
_JAVA = ("java/", "java.", "jdk/", "jdk.")
_NAMELESS = re.compile(
    r"|\?+|@?0x[0-9a-f]+|<unknown>|unknown|\[unknown\w*\]|\[\S+\.so[.\d]*\]|\[[\w.-]+\]"
)


def named(names: Sequence[str]) -> NDArray[np.bool_]:
    """Return a mask of the names of functions.

    Others are addresses without a symbol: `[unknown]`, a binary's name, or
    ``@0x561baa9862c0`` of LuaJIT's jit.p.
    """
    return np.array([_NAMELESS.fullmatch(name) is None for name in names], np.bool_)


def allocators(names: Sequence[str], files: Sequence[str]) -> NDArray[np.bool_]:
    """Return a mask of functions other than Go's that only allocate for callers.

    `files` has the file of each function, ``""`` if unknown.
    """
    return np.array(
        [
            _ALLOCATES.match(name) is not None or _OF_ALLOCATOR.search(file) is not None
            for name, file in zip(names, files, strict=True)
        ],
        np.bool_,
    )


def own_code(
    names: Sequence[str], files: Sequence[str], *, of_go: bool
) -> NDArray[np.bool_]:
    """Return a mask of the functions that are the program's own code.

    `files` has the file of each function, ``""`` if unknown.
    """
    if of_go:
        return owned(list(names))
    own = np.array([re.match(_LIBRARY_NAME, name) is None for name in names], np.bool_)
    own &= named(names)
    if any(name.startswith(_JAVA) for name in names):
        # Names of C and C++ are the virtual machine's, and so are its compiler's.
        own &= np.array(["::" not in name and "." in name for name in names], np.bool_)
    if not any(files):
        return own
    return own & np.array([_of_program(file) for file in files], np.bool_)


def _of_program(file: str) -> bool:
    """Return whether a file is the program's: false if it is unknown.

    py-spy shortens names of files to what is imported: ``json/encoder.py``.
    """
    if not file or re.search(_LIBRARY_FILE, file):
        return False
    first = re.split(r"[/.]", file, maxsplit=1)[0]
    return not (file.endswith(".py") and first in sys.stdlib_module_names)
