"""Build two refs of a repository, run them in turns, keep captures per side and run.

Start at `session.measured`: `sides` resolves the commits and writes each side's files
to its own folder, `gotest` runs the test binaries, `rounds` alternates the sides, and
`machine` records what the results depend on. Nothing is written to the user's
repository; `children` kills every process that was started. Callers read and compare
the captures.
"""
