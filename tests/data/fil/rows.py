"""Rows of a report. With the argument `new`, `parse` keeps each row's text as well (in `seen`)."""

import sys

new = sys.argv[1] == "new"
seen = []


def read(n):
    return f"{n};{'x' * 400};{n * 7}".encode()


def parse(raw):
    text = raw.decode()
    if new:
        seen.append(text * 3)
    return text.split(";")


def total(rows):
    return sum([int(row[0]) + int(row[2]) for row in rows])


def main():
    rows = [parse(read(n)) for n in range(40_000)]
    table = bytearray(6_000_000)
    print(total(rows), len(table))


main()
