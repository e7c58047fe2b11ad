import copy, os, sys, time, json


class Ledger:
    def __init__(self):
        self.entries = [{"who": f"u{i}", "cents": i * 7} for i in range(120)]

    def balance(self):
        entries = (
            copy.deepcopy(self.entries) if os.environ.get("PLANTED") else self.entries
        )
        return sum(e["cents"] for e in entries)

    def page(self):
        return json.dumps(self.entries)


def digest(text):
    h = 7
    for c in text[:2000]:
        h = (h * 31 + ord(c)) & 0xFFFFFF
    return h


def main(seconds):
    ledger, end, ops = Ledger(), time.time() + seconds, 0
    while time.time() < end:
        ledger.balance()
        digest(ledger.page())
        ops += 1
    print("operations", ops)


main(float(sys.argv[1]))
