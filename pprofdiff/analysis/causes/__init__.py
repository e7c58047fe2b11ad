"""Why an operation costs more or less: places in the program's code."""
