"""A cart whose lines are added up and named; with an argument they are copied first."""

import copy
import sys
import time


class Cart:
    """Lines with a price and a count."""

    def __init__(self):
        self.lines = [{"price": i * 7 % 50, "count": i % 5} for i in range(300)]

    def total(self, planted):
        """Return the sum of all lines."""
        lines = copy.deepcopy(self.lines) if planted else self.lines
        return sum(line["price"] * line["count"] for line in lines)

    def names(self):
        """Return the lines as a text."""
        return "".join(f"line {line['price']}," for line in self.lines)


def serve(cart, planted):
    """Do one operation."""
    return cart.total(planted) + len(cart.names())


def main():
    """Serve for 3 s, and print how often."""
    cart, done, planted = Cart(), 0, len(sys.argv) > 1
    end = time.time() + 3
    while time.time() < end:
        serve(cart, planted)
        done += 1
    print(done)


main()
