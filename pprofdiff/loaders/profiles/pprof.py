"""pprof profiles: the bytes of profile.proto, uncompressed, to `Profile`.

protobuf splits the file, numpy decodes all samples at once (see `wire`). Everything
that ``runtime/pprof``, ``net/http/pprof`` and ``go tool pprof -proto`` write is
read: packed and unpacked numbers, sparse ids, unknown fields.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pprofdiff.errors import FormatError
from pprofdiff.loaders.profiles.ids import Ids
from pprofdiff.loaders.profiles.schema import message_class, view_class
from pprofdiff.loaders.profiles.wire import (
    MAX_FIELDS,
    Messages,
    Runs,
    joined,
    numbers,
    scan,
)
from pprofdiff.model.csr import offsets_of
from pprofdiff.model.profiles.profile import (
    Functions,
    Labels,
    Locations,
    Mapping,
    Profile,
    ValueType,
)

__all__ = ["decode"]

# Samples decoded at a time: their bytes and tokens stay in the processor's cache.
_SAMPLES_AT_ONCE = 1 << 14

# A message's fields (see `wire.scan`), the field that holds nested messages, and
# their fields.
_Shape = tuple[dict[int, int], int, dict[int, int]]
_Nested = tuple[NDArray[np.int64], list[NDArray[np.uint64]]]

_SAMPLE: _Shape = {1: -2, 2: -2, 3: 2}, 3, {1: 0, 2: 0, 3: 0, 4: 0}
_LOCATION: _Shape = {1: 0, 2: 0, 3: 0, 4: 2, 5: 0}, 4, {1: 0, 2: 0, 3: 0}
_FUNCTION: _Shape = {1: 0, 2: 0, 3: 0, 4: 0, 5: 0}, 0, {}


def decode(data: bytes, name: str = "profile") -> Profile:
    """Return the profile that these uncompressed bytes hold.

    `name` is the file as the user knows it. Raises FormatError, in one line, where
    the bytes are not a profile or contradict themselves.
    """
    from google.protobuf.message import DecodeError

    try:
        view = view_class().FromString(data)
        return _Decoder(view, name).profile()
    except DecodeError as error:
        raise FormatError(
            f"{name}: damaged, or not a pprof profile; fetch it again"
        ) from error


class _Decoder:
    """One file being read: its strings, and the ids that its parts refer to."""

    def __init__(self, view: Any, name: str) -> None:  # noqa: ANN401 - see schema
        self.view = view
        self.name = name
        table = view.string_table
        self.strings = tuple([s.decode("utf-8", "replace") for s in table]) or ("",)
        if self.strings[0] != "":
            raise self.fault("its string table does not begin with the empty string")

    def fault(self, what: str) -> FormatError:
        """Return the error for a file that contradicts itself."""
        return FormatError(f"{self.name}: damaged profile: {what}; fetch it again")

    def text(self, index: int) -> str:
        """Return one string by its number in the file."""
        if not 0 <= index < len(self.strings):
            raise self.fault(f"it refers to string {index} of {len(self.strings)}")
        text: str = self.strings[index]
        return text

    def texts(self, numbers: NDArray[np.unsignedinteger]) -> NDArray[np.int32]:
        """Return string positions as int32, all of them within the table."""
        if len(numbers) and int(numbers.max()) >= len(self.strings):
            self.text(int(numbers.max()))
        return numbers.astype(np.int32)

    def profile(self) -> Profile:
        """Assemble the whole profile."""
        view = self.view
        kinds = tuple(self.value_type(t) for t in view.sample_type)
        mapping_ids = Ids([m.id for m in view.mapping], "mapping", self.fault)
        functions, function_ids = self.functions()
        locations, location_ids = self.locations(mapping_ids, function_ids)
        samples = self.samples(location_ids, len(kinds))
        period_type = None
        if view.HasField("period_type"):
            period_type = self.value_type(view.period_type)
        return Profile(
            strings=self.strings,
            sample_types=kinds,
            functions=functions,
            locations=locations,
            mappings=tuple(self.mapping(m) for m in view.mapping),
            stack_offsets=offsets_of(samples.depths),
            stack_locations=samples.locations,
            values=samples.values,
            labels=samples.labels,
            period_type=period_type,
            period=view.period or None,
            time_ns=view.time_nanos or None,
            duration_ns=view.duration_nanos or None,
            default_sample_type=self.text(view.default_sample_type) or None,
            drop_frames=self.text(view.drop_frames),
            keep_frames=self.text(view.keep_frames),
            comments=tuple(self.text(c) for c in view.comment),
            doc_url=self.text(view.doc_url),
        )

    def value_type(self, message: Any) -> ValueType:  # noqa: ANN401 - see schema
        """Return one ValueType."""
        return ValueType(self.text(message.type), self.text(message.unit))

    def mapping(self, message: Any) -> Mapping:  # noqa: ANN401 - see schema
        """Return one Mapping."""
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
        """Decode the function table."""
        messages, found, _ = self.table(list(self.view.function), "Function", _FUNCTION)
        size = len(messages.first)
        ids, *texts = (_scalar(messages, found[n], size) for n in range(1, 6))
        name, system_name, filename = (self.texts(t) for t in texts[:3])
        start_line = texts[3].view(np.int64)
        functions = Functions(name, system_name, filename, start_line)
        return functions, Ids(ids, "function", self.fault)

    def locations(self, mapping_ids: Ids, function_ids: Ids) -> tuple[Locations, Ids]:
        """Decode the location table and its lines."""
        messages, found, (owner, columns) = self.table(
            list(self.view.location), "Location", _LOCATION
        )
        size = len(messages.first)
        ids, mapping, address = (_scalar(messages, found[n], size) for n in range(1, 4))
        folded = _scalar(messages, found[5], size) != 0
        function, number, column = columns
        counts = np.bincount(owner, minlength=size)
        # A location without a line still is a frame: give it one that names nothing.
        bare = np.flatnonzero(counts == 0)
        places = np.searchsorted(owner, bare)
        line_function = np.insert(function_ids.lenient(function), places, -1)
        locations = Locations(
            address=address,
            mapping=mapping_ids.lenient(mapping),
            folded=folded,
            line_offsets=offsets_of(np.maximum(counts, 1)),
            line_function=line_function,
            line_number=np.insert(number.view(np.int64), places, 0),
            line_column=np.insert(column.view(np.int64), places, 0),
        )
        return locations, Ids(ids, "location", self.fault)

    def table(
        self, messages: list[bytes], kind: str, shape: _Shape
    ) -> tuple[Messages, dict[int, Runs], _Nested]:
        """Scan messages; have protobuf rewrite them where numpy cannot read them.

        Returned are the buffer, the messages' fields, and what the nested messages of
        the shape hold: the owner of each, and its fields as columns.
        """
        stream = joined(messages)
        found, inner, odd = _scanned(stream, shape)
        if odd:
            stream = joined(self.rewritten(messages, kind))
            found, inner, odd = _scanned(stream, shape)
        if odd:
            raise self.fault(f"a {kind} has more than {MAX_FIELDS} parts")
        return stream, found, inner

    def rewritten(self, messages: list[bytes], kind: str) -> list[bytes]:
        """Return the messages without unknown fields, numbers packed."""
        read = message_class(kind).FromString
        clean = []
        for message in messages:
            parsed = read(message)
            parsed.DiscardUnknownFields()
            clean.append(parsed.SerializeToString())
        return clean

    def numbers(
        self, messages: Messages, runs: Runs, size: int
    ) -> tuple[NDArray[np.unsignedinteger], NDArray[np.int64]]:
        """Return a field's numbers in file order, and how many each message has."""
        try:
            found, counts = numbers(messages.data, runs)
        except ValueError as error:
            raise self.fault(str(error)) from error
        if len(runs.owner) == size and (np.diff(runs.owner) == 1).all():
            return found, counts
        return found, np.bincount(runs.owner, counts, size).astype(np.int64)

    def samples(self, location_ids: Ids, types: int) -> _Samples:
        """Decode all samples, a cacheful at a time."""
        messages = list(self.view.sample)
        parts = [
            self.some_samples(messages[i : i + _SAMPLES_AT_ONCE], location_ids, types)
            for i in range(0, len(messages), _SAMPLES_AT_ONCE)
        ]
        return _joined(parts, types)

    def some_samples(
        self, messages: list[bytes], location_ids: Ids, types: int
    ) -> _Samples:
        """Decode one chunk of samples."""
        size = len(messages)
        stream, found, (owner, columns) = self.table(messages, "Sample", _SAMPLE)
        ids, depths = self.numbers(stream, found[1], size)
        values, widths = self.numbers(stream, found[2], size)
        if (widths != types).any():
            raise self.fault(f"a sample does not have its {types} values")
        labels = Labels.none()
        if len(owner):
            key, text, number, unit = columns
            labels = Labels(
                owner,
                self.texts(key),
                self.texts(text),
                number.view(np.int64),
                self.texts(unit),
            )
        return _Samples(
            depths=depths,
            locations=location_ids.strict(ids),
            values=values.astype(np.uint64).view(np.int64).reshape(size, types),
            labels=labels,
        )


class _Samples(NamedTuple):
    """Decoded samples: stack depths, stack items, values and labels."""

    depths: NDArray[np.int64]
    locations: NDArray[np.int32]
    values: NDArray[np.int64]
    labels: Labels


def _joined(parts: list[_Samples], types: int) -> _Samples:
    """Concatenate chunks of samples."""
    if not parts:
        none = np.zeros(0, np.int64)
        values = np.zeros((0, types), np.int64)
        return _Samples(none, none.astype(np.int32), values, Labels.none())
    starts = offsets_of(np.array([len(p.depths) for p in parts])).tolist()
    labels = [p.labels for p in parts]
    return _Samples(
        np.concatenate([p.depths for p in parts]),
        np.concatenate([p.locations for p in parts]),
        np.concatenate([p.values for p in parts]),
        Labels(
            np.concatenate(
                [x.sample + s for x, s in zip(labels, starts[:-1], strict=True)]
            ),
            np.concatenate([x.key for x in labels]),
            np.concatenate([x.text for x in labels]),
            np.concatenate([x.number for x in labels]),
            np.concatenate([x.unit for x in labels]),
        ),
    )


def _scanned(stream: Messages, shape: _Shape) -> tuple[dict[int, Runs], _Nested, bool]:
    """Scan messages and the messages nested in them; tell whether any is odd."""
    fields, number, inner_fields = shape
    found, odd = scan(stream, fields)
    if odd.any() or not number or not len(found[number].owner):
        none = np.zeros(0, np.int64)
        columns = [none.view(np.uint64) for _ in inner_fields]
        return found, (none, columns), bool(odd.any())
    runs = found[number]
    inner = Messages(stream.data, runs.first, runs.last)
    held, odd = scan(inner, inner_fields)
    columns = [_scalar(inner, held[n], len(runs.owner)) for n in inner_fields]
    return found, (runs.owner, columns), bool(odd.any())


def _scalar(messages: Messages, runs: Runs, size: int) -> NDArray[np.uint64]:
    """Return a single-varint field by message (uint64), 0 where absent, last wins."""
    column = np.zeros(size, np.uint64)
    column[runs.owner] = numbers(messages.data, runs)[0]
    return column
