"""How sure a change is: intervals, tests and marks for everything that is compared."""
