"""A shop that renders orders; `new` compiles the pattern of codes on each call."""

import json
import re
import sys
import time

NEW = sys.argv[1] == "new"
PATTERN = re.compile(r"^(\w+)-(\d+)%$")


def discount(code):
    if NEW:
        re.purge()
        return re.compile(r"^(\w+)-(\d+)%$").match(code)
    return PATTERN.match(code)


def price(item):
    total = 0
    for part in item["parts"]:
        total += part * 3 % 7
    return total


def render(order):
    codes = [discount("summer-20%") is not None for _ in range(3)]
    return json.dumps({"lines": [price(item) for item in order], "codes": codes})


def main():
    order = [{"parts": list(range(60))} for _ in range(20)]
    end = time.time() + 8
    orders = 0
    while time.time() < end:
        render(order)
        orders += 1
    print(orders)


main()
