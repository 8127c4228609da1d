"""The benchmark's tensor put into the live port at one place, and what of the difference remains."""
