"""A ledger; with PLANTED it copies its entries for each balance."""

import copy
import json
import os
import sys
import time


class Ledger:
    """Who owes how much."""

    def __init__(self):
        self.entries = [{"who": f"u{i}", "cents": i * 7} for i in range(120)]

    def balance(self):
        """Return the sum."""
        planted = os.environ.get("PLANTED")
        entries = copy.deepcopy(self.entries) if planted else self.entries
        return sum(e["cents"] for e in entries)

    def page(self):
        """Return all entries as JSON."""
        return json.dumps(self.entries)


def digest(text):
    h = 7
    for c in text[:2000]:
        h = (h * 31 + ord(c)) & 0xFFFFFF
    return h


ledger, end, ops = Ledger(), time.time() + float(sys.argv[1]), 0
while time.time() < end:
    ledger.balance()
    digest(ledger.page())
    ops += 1
print("operations", ops)
