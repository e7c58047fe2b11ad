"""Build two refs of a repository, run them in turns, keep captures per side and run.

Nothing is written to the user's repository; `children` kills every process that was
started. Callers read and compare the captures.
"""
