import std/[tables, times, strutils]
when defined(planted):
  type Index = seq[(string, int)]
else:
  type Index = Table[string, int]
proc lookup(ix: Index, k: string): int {.noinline.} =
  when defined(planted):
    for (n, v) in ix:
      if n == k: return v
  else:
    return ix.getOrDefault(k)
proc total(ix: Index, keys: seq[string]): int {.noinline.} =
  for k in keys: result += lookup(ix, k)
proc label(keys: seq[string]): string {.noinline.} =
  for i in 0..<60: result = keys[i].toUpperAscii & "-" & $i
var ix: Index
var keys: seq[string]
for i in 0..<200:
  keys.add("key " & $(i * 7919 mod 200))
  when defined(planted): ix.add((keys[^1], i))
  else: ix[keys[^1]] = i
let stop = epochTime() + 6
var n, s = 0
while epochTime() < stop:
  s += total(ix, keys) + label(keys).len
  inc n
echo n, " ", s mod 7
