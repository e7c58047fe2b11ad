"""Decode pprof profiles, uncompressed profile.proto, into `Profile`.

protobuf splits the file, numpy decodes all samples at once (see `wire`). Reads
everything that ``runtime/pprof``, ``net/http/pprof`` and ``go tool pprof -proto``
write: packed and unpacked numbers, sparse ids, unknown fields.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import repeat
from sys import intern
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from pprofdiff.errors import DamagedError
from pprofdiff.loaders.profiles.ids import Ids
from pprofdiff.loaders.profiles.schema import message_class, view_class
from pprofdiff.loaders.profiles.wire import (
    MAX_FIELDS,
    Messages,
    Occurrences,
    joined,
    numbers,
    scan,
)
from pprofdiff.model.arrays import Column, Index
from pprofdiff.model.csr import offsets_of
from pprofdiff.model.profiles.profile import (
    Functions,
    Labels,
    Locations,
    Mapping,
    Profile,
    ValueType,
)

# Messages decoded at a time: their bytes and tokens fit in the CPU cache.
_AT_ONCE = 1 << 13


class _Shape(Struct, frozen=True):
    """A message's fields in the form of `wire.scan`, and nested messages' fields.

    `nested` is the number of the field that holds nested messages, 0 for none.
    """

    fields: dict[int, int]
    nested: int
    nested_fields: dict[int, int]


_SAMPLE = _Shape({1: -2, 2: -2, 3: 2}, 3, {1: 0, 2: 0, 3: 0, 4: 0})
_LOCATION = _Shape({1: 0, 2: 0, 3: 0, 4: 2, 5: 0}, 4, {1: 0, 2: 0, 3: 0})
_FUNCTION = _Shape({1: 0, 2: 0, 3: 0, 4: 0, 5: 0}, 0, {})


def decode(data: bytes, name: str = "profile") -> Profile:
    """Return the profile encoded in uncompressed profile.proto bytes.

    `data`: the bytes, not gzipped. `name`: the file name to use in errors.

    Raises DamagedError: the bytes are not a profile, or inconsistent: one line that
    names the file, the problem and the remedy.
    """
    return decoded(parsed(data, name), name)


def parsed(data: bytes, name: str) -> Any:  # noqa: ANN401 - see schema
    """Return the view of the bytes that `decoded` takes; raises as `decode`."""
    from google.protobuf.message import DecodeError

    try:
        return view_class().FromString(data)
    except DecodeError as error:
        raise _damaged(name) from error


def decoded(view: Any, name: str) -> Profile:  # noqa: ANN401 - see schema
    """Return the profile of a view of its bytes; raises as `decode`."""
    from google.protobuf.message import DecodeError

    try:
        return _Decoder(view, name).profile()
    except DecodeError as error:
        raise _damaged(name) from error


def _damaged(name: str) -> DamagedError:
    return DamagedError(f"{name}: damaged, or not a pprof profile; fetch it again")


class _Decoder:
    """A file being decoded: its number of strings, and the ids its parts refer to."""

    def __init__(self, view: Any, name: str) -> None:  # noqa: ANN401 - see schema
        self.view = view
        self.name = name
        self.strings = max(len(view.string_table), 1)
        if any(view.string_table[:1]):
            raise self.fault("its string table does not begin with the empty string")

    def fault(self, what: str) -> DamagedError:
        return DamagedError(f"{self.name}: damaged profile: {what}; fetch it again")

    def text(self, index: int) -> str:
        if not 0 <= index < self.strings:
            raise self.fault(f"it refers to string {index} of {self.strings}")
        return str(self.view.string_table[index], "utf-8", "replace") if index else ""

    def texts(self, numbers: NDArray[np.unsignedinteger]) -> Index:
        """Return string positions as int32, all within the table."""
        if len(numbers) and int(numbers.max()) >= self.strings:
            self.text(int(numbers.max()))
        return numbers.astype(np.int32)

    def profile(self) -> Profile:
        view, table = self.view, self.view.string_table
        sample_types = tuple(self.value_type(t) for t in view.sample_type)
        mapping_ids = Ids([m.id for m in view.mapping], "mapping", self.fault)
        functions, function_ids = self.functions()
        locations, location_ids = self.locations(mapping_ids, function_ids)
        samples = self.samples(location_ids, len(sample_types))
        period_type = None
        if view.HasField("period_type"):
            period_type = self.value_type(view.period_type)
        texts = map(bytes.decode, table, repeat("utf-8"), repeat("replace"))
        return Profile(
            # Last, when the arrays that decoding takes are freed.
            strings=tuple(map(intern, texts)) or ("",),
            sample_types=sample_types,
            functions=functions,
            locations=locations,
            mappings=tuple(self.mapping(m) for m in view.mapping),
            stack_offsets=offsets_of(samples.depths),
            stack_locations=samples.locations,
            values=samples.values,
            labels=samples.labels,
            period_type=period_type,
            period=_positive(view.period),
            time_ns=view.time_nanos or None,
            duration_ns=_positive(view.duration_nanos),
            default_sample_type=self.default(sample_types),
            drop_frames=self.text(view.drop_frames),
            keep_frames=self.text(view.keep_frames),
            comments=tuple(self.text(c) for c in view.comment),
            doc_url=self.text(view.doc_url),
        )

    def default(self, types: tuple[ValueType, ...]) -> str | None:
        """Return the default sample type, None without one.

        The difference that ``?seconds=`` of net/http/pprof writes has lost it: only the
        file's name shows that it is of ``/debug/pprof/allocs`` and not of ``heap``.
        """
        given = self.text(self.view.default_sample_type)
        if given or "allocs" not in os.path.basename(self.name):
            return given or None
        return next((one.type for one in types if one.type == "alloc_space"), None)

    def value_type(self, message: Any) -> ValueType:  # noqa: ANN401 - see schema
        return ValueType(self.text(message.type), self.text(message.unit))

    def mapping(self, message: Any) -> Mapping:  # noqa: ANN401 - see schema
        return Mapping(
            start=message.memory_start,
            limit=message.memory_limit,
            offset=message.file_offset,
            file=self.text(message.filename),
            build_id=self.text(message.build_id),
            has_functions=message.has_functions,
            has_filenames=message.has_filenames,
            has_line_numbers=message.has_line_numbers,
            has_inline_frames=message.has_inline_frames,
        )

    def functions(self) -> tuple[Functions, Ids]:
        tables = self.tables("Function", _FUNCTION)
        columns = ([t.scalar(number) for number in range(1, 6)] for t in tables)
        ids, *texts = map(np.concatenate, zip(*columns, strict=True))
        name, system_name, filename = (self.texts(t) for t in texts[:3])
        start_line = texts[3].view(np.int64)
        functions = Functions(name, system_name, filename, start_line)
        return functions, Ids(ids, "function", self.fault)

    def locations(self, mapping_ids: Ids, function_ids: Ids) -> tuple[Locations, Ids]:
        columns = (
            (
                *(table.scalar(number) for number in range(1, 4)),
                table.scalar(5) != 0,
                *table.columns,
                np.bincount(table.owner, minlength=len(table.messages.first)),
            )
            for table in self.tables("Location", _LOCATION)
        )
        ids, mapping, address, folded, function, number, column, counts = map(
            np.concatenate, zip(*columns, strict=True)
        )
        # A location without lines is still a frame: give it a line without a function.
        bare = np.flatnonzero(counts == 0)
        before = offsets_of(counts)[bare]
        # Unlike a mapping, each line's function must exist: go tool pprof rejects
        # profiles that lack one (google/pprof profile/profile.go, CheckValid).
        functions = function_ids.strict(function, "a location")
        line_function = np.insert(functions, before, np.int32(-1))
        locations = Locations(
            address=address,
            mapping=mapping_ids.lenient(mapping),
            folded=folded,
            line_offsets=offsets_of(np.maximum(counts, 1)),
            line_function=line_function,
            line_number=np.insert(number.view(np.int64), before, 0),
            line_column=np.insert(column.view(np.int64), before, 0),
        )
        return locations, Ids(ids, "location", self.fault)

    def tables(self, name: str, shape: _Shape) -> Iterator[_Table]:
        """Yield messages in chunks that fit in the CPU cache, at least one chunk."""
        messages = getattr(self.view, name.lower())
        for start in range(0, max(len(messages), 1), _AT_ONCE):
            yield self.table(messages[start : start + _AT_ONCE], name, shape)

    def table(self, messages: list[bytes], name: str, shape: _Shape) -> _Table:
        """Scan messages; let protobuf rewrite those that numpy cannot decode."""
        table = _scanned(joined(messages), shape)
        if table is None:
            table = _scanned(joined(self.rewritten(messages, name)), shape)
        if table is None:
            raise self.fault(f"a {name} has more than {MAX_FIELDS} parts")
        return table

    def rewritten(self, messages: list[bytes], name: str) -> list[bytes]:
        """Return the messages without unknown fields, with numbers packed."""
        read = message_class(name).FromString
        clean = []
        for message in messages:
            parsed = read(message)
            parsed.DiscardUnknownFields()
            clean.append(parsed.SerializeToString())
        return clean

    def numbers(
        self, table: _Table, field: int
    ) -> tuple[NDArray[np.unsignedinteger], Column]:
        """Return a field's numbers in file order, and their count in each message."""
        places, size = table.places[field], len(table.messages.first)
        try:
            values, counts = numbers(table.messages.data, places)
        except ValueError as error:
            raise self.fault(str(error)) from error
        if len(places.owner) == size and (np.diff(places.owner) == 1).all():
            return values, counts
        return values, np.bincount(places.owner, counts, size).astype(np.int64)

    def samples(self, location_ids: Ids, types: int) -> _Samples:
        tables = self.tables("Sample", _SAMPLE)
        return _joined([self.samples_of(t, location_ids, types) for t in tables])

    def samples_of(self, table: _Table, location_ids: Ids, types: int) -> _Samples:
        ids, depths = self.numbers(table, 1)
        values, widths = self.numbers(table, 2)
        if (widths != types).any():
            raise self.fault(f"a sample does not have its {types} values")
        signed = values.astype(np.uint64).view(np.int64)
        labels = Labels.none()
        if len(table.owner):
            key, text, number, unit = table.columns
            labels = Labels(
                table.owner,
                self.texts(key),
                self.texts(text),
                number.view(np.int64),
                self.texts(unit),
            )
        return _Samples(
            depths=depths,
            locations=location_ids.strict(ids, "a sample"),
            values=signed.reshape(len(depths), types),
            labels=labels,
        )


def _positive(number: int) -> int | None:
    """Return a number, or None if it is not positive and so measures nothing."""
    return number if number > 0 else None


class _Samples(Struct, frozen=True, eq=False):
    """Decoded samples: stack depths, stack items, values and labels."""

    depths: Column
    locations: Index
    values: Column
    labels: Labels


def _joined(parts: list[_Samples]) -> _Samples:
    starts = offsets_of(np.array([len(p.depths) for p in parts])).tolist()
    labels = [
        replace(p.labels, sample=p.labels.sample + start)
        for p, start in zip(parts, starts[:-1], strict=True)
    ]
    return _Samples(
        np.concatenate([p.depths for p in parts]),
        np.concatenate([p.locations for p in parts]),
        np.concatenate([p.values for p in parts]),
        Labels.concatenate(labels),
    )


class _Table(Struct, frozen=True, eq=False):
    """Messages of one kind, and the positions of their fields.

    `owner` is the message of each nested message, and `columns` are the fields of the
    nested messages, in the order of the shape.
    """

    messages: Messages
    places: dict[int, Occurrences]
    owner: Column
    columns: list[NDArray[np.uint64]]

    def scalar(self, field: int) -> NDArray[np.uint64]:
        """Return a varint field by message, 0 if absent; the last value counts."""
        return _scalar(self.places[field], len(self.messages.first))


def _scalar(places: Occurrences, messages: int) -> NDArray[np.uint64]:
    column = np.zeros(messages, np.uint64)
    column[places.owner] = places.value
    return column


def _scanned(messages: Messages, shape: _Shape) -> _Table | None:
    """Scan messages and those nested in them; None if numpy cannot decode one."""
    places, odd = scan(messages, shape.fields)
    if odd.any():
        return None
    if not shape.nested or not len(places[shape.nested].owner):
        none = np.zeros(0, np.int64)
        columns = [none.view(np.uint64) for _ in shape.nested_fields]
        return _Table(messages, places, none, columns)
    nested = places[shape.nested]
    inner = Messages(messages.data, nested.first, nested.last)
    inner_places, odd = scan(inner, shape.nested_fields)
    if odd.any():
        return None
    size = len(nested.owner)
    columns = [_scalar(inner_places[field], size) for field in shape.nested_fields]
    return _Table(messages, places, nested.owner, columns)
