"""Tickets, under cProfile. With the argument `new`, `rank` sorts by a key function that parses dates."""

import cProfile
import datetime as dt
import json
import sys
import time

NEW = sys.argv[1] == "new"


class Ticket:
    """What a customer asked."""

    def __init__(self, n):
        self.n, self.day = n, f"2026-{n % 12 + 1:02}-{n % 28 + 1:02}"

    def key(self):
        """Return its day."""
        return (
            dt.date.fromisoformat(self.day)
            if not NEW
            else dt.datetime.strptime(self.day, "%Y-%m-%d")  # noqa: DTZ007
        )


def rank(tickets):
    return sorted(tickets, key=Ticket.key)


def encode(tickets):
    return json.dumps([vars(ticket) for ticket in tickets])


def search(text, word):
    return [part for part in text.split(",") if word in part]


def page(n):
    tickets = [Ticket(n * 31 + i * 17) for i in range(60)]
    return search(encode(rank(tickets)), "07-1")


def serve(seconds):
    end, n = time.time() + seconds, 0
    while time.time() < end:
        page(n)
        n += 1
    return n


profile = cProfile.Profile()
profile.enable()
n = serve(4)
profile.disable()
profile.dump_stats(sys.argv[2])
print(n, "pages")
