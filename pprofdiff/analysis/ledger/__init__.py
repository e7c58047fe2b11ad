"""What costs are of: units of work, places and resources, and sums of them."""
