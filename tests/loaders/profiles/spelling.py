"""The many ways in which protobuf lets one message be written.

A message is a list of (field number, value): an int is a varint, bytes are
length-delimited, a tuple of ints is a repeated number, a list is a nested message.
`Spelling` writes it with choices that its random source makes: field order, packed
or not, packed in pieces, fields repeated (the last counts), unknown fields of every
wire type, varints and tags longer than they need to be.
https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TypeAlias

Value: TypeAlias = "int | bytes | tuple[int, ...] | Fields"
Fields: TypeAlias = "list[tuple[int, Value]]"

_WORD = (1 << 64) - 1


def varint(number: int, padding: int = 0) -> bytes:
    """Return a varint of 64 bits, with this many bytes more than it needs."""
    number &= _WORD
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    for _ in range(min(padding, 10 - len(out))):
        out[-1] |= 0x80
        out.append(0)
    return bytes(out)


@dataclass(frozen=True, slots=True)
class Spelling:
    """Which liberties to take, each as a chance from 0 to 1."""

    shuffle: float = 0.0
    unpack: float = 0.0
    split: float = 0.0
    repeat: float = 0.0
    unknown: float = 0.0
    pad: float = 0.0

    def write(self, fields: Fields, random: Random) -> bytes:
        """Return the message; fields of one number keep their order."""
        chunks: list[tuple[int, bytes]] = []
        for number, value in fields:
            chunks += [(number, c) for c in self._field(number, value, random)]
        if self._does(self.unknown, random):
            for _ in range(random.randint(1, 3)):
                chunks.append((99, self._unknown(random)))
        if self._does(self.shuffle, random):
            chunks = _shuffled(chunks, random)
        return b"".join(chunk for _, chunk in chunks)

    @staticmethod
    def _does(chance: float, random: Random) -> bool:
        return chance > 0 and random.random() < chance

    def _field(self, number: int, value: Value, random: Random) -> list[bytes]:
        if isinstance(value, int):
            out = [self._number(number, value, random)]
            if self._does(self.repeat, random):
                out.insert(0, self._number(number, random.randint(0, 300), random))
            return out
        if isinstance(value, tuple):
            return self._numbers(number, value, random)
        if isinstance(value, list):
            value = self.write(value, random)
        return [self._delimited(number, value, random)]

    def _numbers(
        self, number: int, values: tuple[int, ...], random: Random
    ) -> list[bytes]:
        if self._does(self.unpack, random):
            return [self._number(number, v, random) for v in values]
        cut = len(values)
        if self._does(self.split, random):
            cut = random.randint(0, len(values))
        out = []
        for part in (values[:cut], values[cut:]):
            if part or self._does(self.split, random):
                packed = b"".join(self._varint(v, random) for v in part)
                out.append(self._delimited(number, packed, random))
        return out

    def _number(self, number: int, value: int, random: Random) -> bytes:
        return self._tag(number, 0, random) + self._varint(value, random)

    def _varint(self, value: int, random: Random) -> bytes:
        return varint(value, self._padding(1, 9, random))

    def _tag(self, number: int, wire: int, random: Random) -> bytes:
        return self._short(number << 3 | wire, random)

    def _delimited(self, number: int, content: bytes, random: Random) -> bytes:
        return (
            self._tag(number, 2, random) + self._short(len(content), random) + content
        )

    def _short(self, number: int, random: Random) -> bytes:
        """Return a tag or a length: protobuf reads up to five bytes."""
        return varint(number, self._padding(0, 5 - len(varint(number)), random))

    def _padding(self, least: int, most: int, random: Random) -> int:
        return random.randint(least, most) if self._does(self.pad, random) else 0

    def _unknown(self, random: Random) -> bytes:
        """Return a field that no version of profile.proto has."""
        number = random.choice((16, 17, 31, 99, 2000, (1 << 29) - 1))
        wire = random.choice((0, 1, 2, 3, 5))
        content = random.randbytes(random.randint(0, 20))
        body = {
            0: varint(random.getrandbits(64)),
            1: random.randbytes(8),
            2: varint(len(content)) + content,
            3: varint(7 << 3)
            + varint(random.getrandbits(20))
            + varint(number << 3 | 4),
            5: random.randbytes(4),
        }
        return varint(number << 3 | wire) + body[wire]


def _shuffled(
    chunks: list[tuple[int, bytes]], random: Random
) -> list[tuple[int, bytes]]:
    """Return the chunks in another order, of one number in their own."""
    order = [number for number, _ in chunks]
    random.shuffle(order)
    queues: dict[int, list[bytes]] = {}
    for number, chunk in reversed(chunks):
        queues.setdefault(number, []).append(chunk)
    return [(number, queues[number].pop()) for number in order]


CANONICAL = Spelling()
