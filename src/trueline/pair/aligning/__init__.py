"""Which parameter and which call of the port is which of the benchmark's."""
