"""Two builds on many hosts: reduce profiles in object storage to two sides.

`sources` lists the objects, `hosts` identifies their hosts, `partial` reads some of
them and sums them per host, `combine` adds up such sums, `engine` runs that here or on
a Dask cluster, and `sides` makes the two sides to compare. A host (or a fixed group of
hosts) is a run of its side: the unit that builds are judged by.

For more than two builds, or for time, `over` makes a series: `steps` assigns profiles
to steps, `tallies` reads some profiles, and `cells` holds their sums.
"""
