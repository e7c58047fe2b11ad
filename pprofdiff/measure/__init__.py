"""Two refs of a repository -> both built once, run in turns, captures by side and run.

Start at `session.measure`: `sides` says which commits are meant and writes the files of
each to a folder of its own, `gotest` builds the test binaries and fixes the iterations,
`rounds` has both sides take turns, `machine` notes what the figures depend on. Nothing
is written to the user's repository; `children` ends every process that is started.
Whoever calls reads and compares the captures.
"""
