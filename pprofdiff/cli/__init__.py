"""The command line: words to options to a run to an exit status; all that prints."""
