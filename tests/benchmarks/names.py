"""Names for an invented Go service, spelled the way the Go linker spells them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

OWN = "example.com/harbour/platform"

_LAYERS = (
    (
        "api handler route middleware gateway",
        "server.go handler.go middleware.go routes.go",
    ),
    ("auth session tenant policy quota", "auth.go token.go rules.go check.go"),
    (
        "orders catalog pricing billing search ledger",
        "service.go plan.go apply.go query.go",
    ),
    (
        "pipeline batch workflow scheduler queue worker",
        "run.go stage.go queue.go retry.go",
    ),
    ("store cache index shard replica snapshot", "store.go cache.go lru.go index.go"),
    (
        "rowcodec wire proto schema column encoding",
        "encode.go decode.go zz_generated.pb.go column.go",
    ),
    ("tsdb chunkenc lsm wal bloom bitmap", "chunk.go wal.go merge.go block.go"),
    ("bytesutil intern ring arena hashing mathx", "bytes.go intern.go ring.go hash.go"),
)
_HOSTS = (
    OWN + "/internal",
    OWN + "/pkg",
    "github.com/northwind/toolkit",
    "github.com/prometheus/prometheus",
    "github.com/klauspost/compress",
    "google.golang.org/protobuf/internal",
    "gopkg.in/yaml.v3",
    "go.opentelemetry.io/otel/sdk",
    "github.com/jackc/pgx/v5",
    "golang.org/x/net",
)
_VERBS = (
    "Read", "Write", "Encode", "Decode", "Append", "Merge", "Lookup", "Insert",
    "Scan", "Flush", "Apply", "Resolve", "Parse", "Format", "Visit", "Compact",
    "Split", "Join", "Filter", "Reduce", "Validate", "Copy", "Hash", "Next",
    "Seek",
)  # fmt: skip
_NOUNS = (
    "Row", "Batch", "Record", "Block", "Chunk", "Series", "Label", "Key",
    "Value", "Page", "Node", "Entry", "Segment", "Request", "Response",
    "Header", "Token", "Range", "Cursor", "Frame", "Field", "Column", "Index",
    "Bucket", "Shard",
)  # fmt: skip
_SHAPES = (
    "go.shape.string", "go.shape.int", "go.shape.[]uint8", "go.shape.*uint8",
    "go.shape.struct{}", "go.shape.int64,go.shape.string",
)  # fmt: skip
_PLACES = {
    "runtime.gc": "mgc.go",
    "runtime.malloc": "malloc.go",
    "runtime.newobject": "malloc.go",
    "runtime.scan": "mgcmark.go",
    "runtime.grey": "mgcmark.go",
    "runtime.(*mc": "mcache.go",
    "runtime.map": "map_swiss.go",
    "runtime.chan": "chan.go",
    "runtime.sel": "select.go",
    "runtime.mem": "memmove_amd64.s",
    "runtime.bgs": "mgcsweep.go",
    "runtime.futex": "os_linux.go",
    "runtime.growslice": "slice.go",
    "runtime.makeslice": "slice.go",
    "runtime.": "proc.go",
}


@dataclass(frozen=True, slots=True)
class Named:
    """Functions of the invented service: one entry each, by position."""

    names: list[str]
    files: list[str]
    package: np.ndarray
    layer: np.ndarray


def known_file(name: str) -> str:
    """Return a plausible source file for a function of the libraries above."""
    for prefix, file in _PLACES.items():
        if name.startswith(prefix):
            return f"/usr/local/go/src/runtime/{file}"
    path, _, rest = name.rpartition("/")
    package = rest.partition(".")[0]
    folder = f"{path}/{package}" if path else package
    if "." in folder.partition("/")[0]:
        return f"/go/pkg/mod/{folder}@v1.9.2/{package}.go"
    return f"/usr/local/go/src/{folder}/{package}.go"


def invent(count: int, rng: np.random.Generator) -> Named:
    """Return `count` functions in packages of about 40, in layers that call downwards."""
    names: list[str] = []
    files: list[str] = []
    packages, layers = [], []
    seen: set[str] = set()
    package = 0
    while len(names) < count:
        layer = package % len(_LAYERS)
        words, sources = (part.split() for part in _LAYERS[layer])
        host = _HOSTS[int(rng.random() ** 2 * len(_HOSTS))]
        version = package // len(_LAYERS) // len(words)
        word = words[package // len(_LAYERS) % len(words)] + (
            str(version) if version else ""
        )
        folder = f"{host}/{word}"
        module = "/src" if host.startswith(OWN) else "/go/pkg/mod"
        for name in _package(folder, 10 + int(rng.random() * 60), rng):
            if name not in seen and len(names) < count:
                seen.add(name)
                names.append(name)
                files.append(
                    f"{module}/{folder}/{sources[int(rng.random() * len(sources))]}"
                )
                packages.append(package)
                layers.append(layer)
        package += 1
    return Named(names, files, np.array(packages), np.array(layers))


def _package(folder: str, count: int, rng: np.random.Generator) -> list[str]:
    """Return the functions of one package; some close over others."""
    names: list[str] = []
    for _ in range(count):
        kind, verb, noun, owner, shape = rng.random(5)
        v = _VERBS[int(verb * len(_VERBS))] + _NOUNS[int(noun * len(_NOUNS))]
        t = _NOUNS[int(owner * len(_NOUNS))]
        s = _SHAPES[int(shape * len(_SHAPES))]
        if kind < 0.42:
            name = f"{folder}.(*{t}{'Reader' if noun < 0.3 else ''}).{v}"
        elif kind < 0.50:
            name = f"{folder}.{t}.{v}"
        elif kind < 0.72:
            name = f"{folder}.{v if owner < 0.5 else v[0].lower() + v[1:]}"
        elif kind < 0.77:
            name = f"{folder}.{v}[{s}]"
        elif kind < 0.80:
            name = f"{folder}.(*{t}Cache[{s}]).{v}"
        elif names:
            outer = names[int(verb * len(names))]
            number = 1 + int(noun * 3)
            name = (
                f"{outer}.{number}"
                if outer[-1].isdigit() and ".func" in outer
                else f"{outer}.func{number}"
            )
        else:
            name = f"{folder}.init.0"
        names.append(name)
    return names
