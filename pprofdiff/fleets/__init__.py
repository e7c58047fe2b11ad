"""Two builds on many hosts: reduce profiles in object storage to two sides.

`sides` makes the two sides to compare; a host (or a fixed group of hosts) is a run: the
unit that builds are judged by. For more than two builds, or for time, `over` makes a
series.
"""
