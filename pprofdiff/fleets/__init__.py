"""Two builds on many hosts: profiles in object storage, reduced to two sides.

`sources` lists the objects, `hosts` tells whose they are, `partial` reads some of them
and adds them up by host, `combine` adds up what was read, `engine` does that here or on
a Dask cluster, and `sides` makes the two sides that everything else compares. A host
(or a fixed group of hosts) is a run of its side: the unit by which builds are judged.

Of more than two builds, or of time, `over` makes a series: `steps` tells which step a
profile is of, `tallies` reads some, `cells` has what they add up to.
"""
