"""What costs are of: units of work, and where they are measured."""
