"""A till that adds taxes up; `new` computes them with Decimal.

Arguments are the build and the port of what takes uploads.
"""

import sys
import time
from decimal import Decimal

import pyroscope

NEW = sys.argv[1] == "new"


class Till:
    """Lines of a receipt, as price and number."""

    def __init__(self):
        self.lines = [(i * 7919 % 500, i % 7 + 1) for i in range(300)]

    def tax(self):
        """Return the tax of all lines, each rounded."""
        if NEW:
            cent, rate = Decimal("0.01"), Decimal("0.19")
            return sum(
                (Decimal(p) * Decimal(n) * rate).quantize(cent) for p, n in self.lines
            )
        return sum((p * n * 19 + 50) // 100 for p, n in self.lines)

    def names(self):
        """Return the names of all lines, in order."""
        return sorted(f"line {p} {n}" for p, n in self.lines)

    def receipt(self):
        """Return the tax and the names."""
        return self.tax(), self.names()


def main():
    """Print how many receipts there were in 12 s."""
    url = f"http://127.0.0.1:{sys.argv[2]}"
    pyroscope.configure(application_name="till", server_address=url, sample_rate=100)
    till, end, receipts = Till(), time.time() + 12, 0
    while time.time() < end:
        till.receipt()
        receipts += 1
    pyroscope.shutdown()
    print(receipts)


main()
